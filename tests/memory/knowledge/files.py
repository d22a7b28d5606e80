"""Real files of every kind, made here."""

import zipfile
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont


def pdf(path: Path, pages: list[str], *, encrypted: bool = False) -> Path:
    """A PDF with a text layer, a line of text a page; "" makes a page with nothing on it."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = list[str]()
    for text in pages:
        content = "".join(
            f"BT /F1 12 Tf 72 {720 - 16 * n} Td ({_escaped(line)}) Tj ET\n" for n, line in enumerate(text.split("\n"))
        )
        content = content if text else ""
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {len(objects)} 0 R >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    trailer = "/Root 1 0 R"
    if encrypted:
        owner, user = "41" * 32, "42" * 32  # no password opens this
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{owner}> /U <{user}> /P -44 >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    out, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} {trailer} >>\n"
        f"startxref\n{len(out)}\n%%EOF\n"
    ).encode("latin-1")
    path.write_bytes(out)
    return path


def scanned(path: Path, words: str) -> Path:
    """A PDF that is a picture of words."""
    drawn(words).save(path, "PDF", resolution=150)
    return path


def drawn(words: str, size: tuple[int, int] = (900, 300)) -> Image.Image:
    """Black words on white."""
    picture = Image.new("RGB", size, "white")
    font = ImageFont.load_default(36)
    ImageDraw.Draw(picture).multiline_text((40, 60), words, fill="black", font=font, spacing=18)
    return picture


def picture(path: Path, words: str) -> Path:
    drawn(words).save(path)
    return path


def docx(path: Path) -> Path:
    from docx import Document

    made = Document()
    made.add_heading("Lease of the flat", 1)
    made.add_paragraph("The tenant pays on the third working day.")
    made.add_heading("Termination", 2)
    made.add_paragraph("Notice is ninety days, in writing.", style="List Bullet")
    table = made.add_table(rows=2, cols=2)
    for row, cells in enumerate((("item", "amount"), ("deposit", "2,700 EUR"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    made.add_paragraph("After the table.")
    made.save(str(path))
    return path


def pptx(path: Path) -> Path:
    from pptx import Presentation
    from pptx.util import Inches

    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Quarterly review"
    first.placeholders[1].text = "Revenue rose by 12 percent"
    first.notes_slide.notes_text_frame.text = "Mention the Lisbon office."
    second = made.slides.add_slide(made.slide_layouts[5])
    second.shapes.title.text = "Head count"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, cells in enumerate((("team", "people"), ("harbour", "17"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    made.save(str(path))
    return path


def bomb(path: Path, *, part: str = "word/document.xml", megabytes: int = 200) -> Path:
    """A docx whose text would unpack to hundreds of megabytes."""
    docx(path)
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist() if name != part}
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name, body in kept.items():
            new.writestr(name, body)
        with new.open(part, "w") as opened:
            for _ in range(megabytes):
                opened.write(b" " * 2**20)
    path.write_bytes(out.getvalue())
    return path


HTML = """<!doctype html><html><head><meta charset="utf-8"><title>Sourdough</title>
<style>p { color: red }</style><script>var secret = "never read";</script></head>
<body><h1>Sourdough at home</h1><p>Feed the starter   at <b>nine</b>.</p>
<!-- a comment --><ul><li>flour</li><li>water</li></ul>
<h2>Baking</h2><table><tr><th>heat</th><th>time</th></tr><tr><td>250&nbsp;°C</td><td>20 min</td></tr></table>
<pre>mix()
  knead()</pre></body></html>"""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
