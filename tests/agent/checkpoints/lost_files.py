"""Command lines that delete, move or overwrite files: some by hand, and a generator of more.

`{away}` is a temporary folder that is removed after the command, `{git}` is git with an author.
"""

import random
from collections.abc import Iterator

BY_HAND = [
    *r"""
mv notes.txt {away}/
mv -t {away} notes.txt src/a.py
find t -type f -exec mv {{}} {away}/ \;
find . -name '*.py' -delete
find t -type f -print0 | xargs -0 rm
cp x/a.py src/
cp -t src x/a.py
cp -r x/. src
cp -rT x src
cp -a x/* src/
cp --remove-destination x/a.py src/a.py
cp /dev/null data.db
install x/a.py src/
install -m 600 x/a.py src/a.py
ln -f x/a.py src/
ln -sf ../x/a.py src/a.py
rsync -a x/ src/
rsync -a --delete-after x/ src/
tar cf {away}/t.tar t && rm -rf t
tar cf a.tar x && tar xf a.tar -C src --strip-components 1
tar cf {away}/s.tar --remove-files src
time -p rm -rf old
nice rm -rf old t
env -i /bin/rm -r old
timeout 5 rm -rf t
setsid rm -rf t
stdbuf -o0 rm notes.txt
nohup rm notes.txt
command rm notes.txt
exec rm -rf t
r""m notes.txt
$(echo rm) notes.txt
eval 'rm -rf t'
X=rm; $X -rf src
sh -c 'rm -rf t'
echo 'rm -rf t' | sh
sh <<< 'rm -rf t'
bash <(echo rm -rf t)
xargs rm -rf <<< 'old t'
ls | xargs rm -rf
rm -rf * .[a-z]*
rm -rf ./*
rm -f -- notes.txt data.db
cd src && rm -rf ./*
(cd t; rm -rf c)
cd .. && rm -rf project/src
pushd src; rm a.py; popd
unlink notes.txt
shred -u notes.txt
shred notes.txt
truncate -s 0 notes.txt
truncate -s 3 data.db
truncate -s +5 notes.txt
dd if=/dev/zero of=notes.txt bs=1 count=3 conv=notrunc
dd if=x/a.py of=src/a.py
: > notes.txt
> notes.txt
echo x > notes.txt
echo x >| notes.txt
echo x &> notes.txt
echo x >> notes.txt
echo x > src/../notes.txt
cat x/a.py > src/a.py
cat x/a.py | tee src/a.py
tee notes.txt src/a.py < /dev/null
tee -a notes.txt <<< more
sort -o data.db x/a.py
sort -u notes.txt -o notes.txt
sed -i s/mine/yours/ notes.txt
sed -i.bak s/mine/yours/ notes.txt
sed -n 'w notes.txt' x/a.py
sed --in-place -e 1d src/a.py
awk '{{print > "notes.txt"}}' x/a.py
awk 'BEGIN {{system("rm -rf t")}}'
perl -e 'unlink "notes.txt"'
perl -pi -e 's/mine/yours/' notes.txt
perl -e 'rename "notes.txt", "{away}/n"'
perl -e 'open F, ">notes.txt"'
python3 -c 'import shutil; shutil.rmtree("src")'
python3 -c 'open("notes.txt", "w").write("x")'
python3 -c 'open("data.db", "r+b").write(b"x")'
python3 -c 'import os; os.truncate("notes.txt", 1)'
python3 -c 'import os; os.replace("x/a.py", "src/a.py")'
python3 -c 'import pathlib; [p.unlink() for p in pathlib.Path(".").rglob("*.py")]'
python3 -c 'import mmap; f = open("data.db", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:2] = b"zz"; m.flush()'
python3 -c 'import os; f = os.open("notes.txt", os.O_WRONLY); os.pwrite(f, b"zz", 0); os.utime("notes.txt", (1, 1))'
python3 -c 'import sqlite3; sqlite3.connect("new.db").execute("create table x(y)")' && mv new.db data.db
printf '1d\nw\nq\n' | ed -s notes.txt
printf '%%d\nwq\n' | ex -s notes.txt
vim -es -c '%d' -c wq notes.txt
gzip notes.txt
gzip -f notes.txt src/a.py
bzip2 notes.txt
xz notes.txt
zstd --rm -q notes.txt
zip -mq {away}/z.zip notes.txt
split -b 2 notes.txt && rm notes.txt
csplit -s notes.txt 1 && mv xx00 notes.txt
mkdir -p old2 && mv src t old2/ && rm -rf old2
mv src lib
mv src/a.py src/b2.py
mv -f x/a.py src/a.py
mv x src2 && rm -rf src && mv src2 src
rename a.py b.py src/a.py
mkdir n && cp -p notes.txt n/ && rm notes.txt && ln -s n/notes.txt notes.txt
rm notes.txt && mkdir notes.txt
rm -rf src && echo x > src
rm -rf src && ln -s {away} src
chmod 000 notes.txt && rm -f notes.txt
chmod -R 777 . && rm -rf t
chmod 600 src/a.py && echo 2 >> src/a.py
touch -d 2001-01-01 notes.txt && rm notes.txt
cp -p src/a.py k && echo 'a = 2' > src/a.py && touch -r k src/a.py && rm k
while read f; do rm "$f"; done < <(find . -name '*.py')
for f in src/*; do rm -rf "$f"; done
for f in *; do mv "$f" {away}/; done
if true; then rm -rf t; fi
true && rm -rf t || false
{{ rm -rf t; }}
! rm -rf t
(sleep 0.05; rm -rf t) & wait
trap 'rm -rf t' EXIT
f() {{ rm -rf "$1"; }}; f t
function g {{ echo > notes.txt; }}; g
alias z='rm -rf'; shopt -s expand_aliases; eval 'z t'
printf 'all:\n\trm -rf t\n' | make -f -
printf '#!/bin/sh\nrm -rf t\n' > run.sh && sh run.sh
printf 'import os\nos.remove("notes.txt")\n' > run.py && python3 run.py
git init -q . && git add -A && {git} commit -qm x && git rm -rfq src
git init -q . && git add -A && {git} commit -qm x && echo y > notes.txt && git checkout -q -- .
git init -q . && git clean -fdq
git init -q . && git add notes.txt && {git} commit -qm x && echo y > notes.txt && git reset -q --hard && rm -rf src
git init -q . && git add -A && git mv -f x/a.py src/a.py
git init -q . && git add -A && {git} stash -q -u
curl -s -o notes.txt file:///dev/null
curl -s file:///etc/hostname -o src/a.py
patch -s notes.txt < /dev/null; echo x > notes.txt
diff -u notes.txt x/a.py | patch -s notes.txt
python3 -m zipfile -c z.zip x && python3 -m zipfile -e z.zip src && rm -rf src/a.py
python3 -m tarfile -c {away}/y.tar t && rm -rf t
python3 -m compileall -q src; rm -rf src/__pycache__ src/a.py
php -r 'unlink("notes.txt");' || rm notes.txt
node -e 'fs.rmSync("t", {{recursive: true}})' || rm -r t
ruby -e 'File.delete("notes.txt")' || rm notes.txt
busybox rm -rf t || rm -rf t
openssl enc -aes-256-cbc -k x -in notes.txt -out data.db || echo > data.db
gcc -x c -o data.db - <<< 'int main() {{}}' || echo > data.db
ar rc data.db x/a.py || echo > data.db
objcopy /bin/true data.db || echo > data.db
script -qc 'rm -rf t' /dev/null
flock notes.txt rm -rf t
parallel rm ::: notes.txt || rm notes.txt
ionice rm -rf t
chroot . /bin/true; rm -rf t
mktemp -p t; rm -rf t
dos2unix notes.txt || tr 'm' 'M' < notes.txt > n && mv n notes.txt
iconv -f utf-8 -t utf-16 notes.txt -o notes.txt || echo > notes.txt
base64 -d <<< eA== > notes.txt
xxd -r -p - notes.txt <<< 00 || echo > notes.txt
logrotate /dev/null; rm -f notes.txt
fallocate -p -l 2 data.db
mkfifo p; rm -rf p t
cp --sparse=always /dev/null notes.txt
exec 3> notes.txt
exec 3<> data.db; printf zz >&3
coproc rm -rf t; wait
mapfile -t a < <(ls); rm -rf "${{a[@]}}"
rm -rf "$(pwd)/src"
rm -rf {{src,t}}
rm -rf $'\x73rc'
rm -rf s?c [t]
find . -type f -size -10k -exec truncate -s 0 {{}} +
find src -type f -execdir mv {{}} {{}}.old \;
find . -depth -mindepth 1 -delete
find . -type f -fprint notes.txt
rm -rf -- "$PWD"/*
rm -rf -- -dash.txt t
rm -rf 名前*
mv 名前* {away}/
mv -- * {away}/
cp -r . {away}/all && rm -rf ./*
rm -fr t; mkdir t; echo other > t/c
rm notes.txt; echo mine > notes.txt
printf 'x' | tee notes.txt > src/a.py
cat /dev/null >| data.db
yes | head -c 300000 > data.db
python3 -c 'import os; os.rename("t", "src/t"); os.rename("notes.txt", "src/t/c")'
python3 -c 'import os; os.link("x/a.py", "l"); os.replace("l", "notes.txt")'
python3 -c 'import os, signal; os.remove("notes.txt"); os.kill(os.getpid(), signal.SIGKILL)'
python3 - <<< 'import glob, os; [os.remove(p) for p in glob.glob("**", recursive=True) if os.path.isfile(p)]'
bash -c 'rm -rf t; kill -9 $$'
(rm -rf t &) ; sleep 0.2
exec -a harmless rm -rf t
umask 777; echo x > notes.txt.new; mv -f notes.txt.new notes.txt
cd src; rm -rf ../t ../notes.txt; cd ..; rmdir src/deep || rm -rf src/deep
""".strip().splitlines()
]

PLACES = ("notes.txt", "src/a.py", "src/deep/b.py", "t/c", "data.db", "名前 店.txt", "-dash.txt")
_ACTIONS = (
    "rm -rf -- {p}",
    "mv -- {p} {away}/m{n}",
    "printf x > {p}",
    "printf y >> {p}",
    "truncate -s 1 -- {p}",
    "cp -- x/a.py {p}",
    "cp -f x/a.py {away}/k{n} && mv {away}/k{n} {p}",
    "dd if=/dev/zero of={p} bs=1 count=2 conv=notrunc status=none",
    "chmod 640 -- {p}",
    "ln -f -- x/a.py {p}",
    "python3 -c 'import os,sys; os.remove(sys.argv[1])' {p}",
    'python3 -c \'import sys; open(sys.argv[1], "wb").write(b"z")\' {p}',
    "sed -i '1s/^/q/' -- {p}",
    "rm -rf -- {d}",
    "mv -- {d} {away}/d{n}",
    "mkdir -p new{n} && mv -- {p} new{n}/",
    "printf new > new{n}.txt",
)
_WRAPPERS = (
    "{}",
    "({})",
    "sh -c {q}",
    "{} || true",
    "eval {q}",
    "nice sh -c {q}",
    "printf '%s' {q} | bash",
    "{} & wait",
)


def generated(seed: int, count: int) -> Iterator[str]:
    """Lines of one to four actions on files of the project, each in a wrapper of its own."""
    import shlex

    chance = random.Random(seed)
    for number in range(count):
        steps: list[str] = []
        for step in range(chance.randint(1, 4)):
            place = chance.choice(PLACES)
            folder = place.rpartition("/")[0] or place
            action = chance.choice(_ACTIONS)
            text = action.replace("{p}", shlex.quote(f"./{place}")).replace("{d}", shlex.quote(f"./{folder}"))
            text = text.replace("{n}", f"{number}_{step}")
            wrapper = chance.choice(_WRAPPERS)
            steps.append(wrapper.replace("{q}", shlex.quote(text)).replace("{}", text))
        yield "; ".join(steps)
