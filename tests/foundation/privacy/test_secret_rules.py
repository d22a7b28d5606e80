"""The lists of rules: whole, sound, and at peace with each other."""

import re

from foundation.privacy import ClearingStream, clear
from foundation.privacy.encoded_tokens import encoded_rules
from foundation.privacy.secret_rules import gitleaks_rules, token_rules

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5kL7nP9qR2tU4wX6zA8"


def test_each_rule_of_gitleaks_is_here_or_left_out_with_a_reason() -> None:
    data = gitleaks_rules()
    assert (len(data.tokens), len(data.named), len(data.left_out)) == (105, 99, 18)  # 222 rules in 8.30.1
    assert all(data.left_out.values())


def test_each_pattern_is_sound_and_begins_with_its_keyword() -> None:
    for rule in (*token_rules(), *encoded_rules()):
        re.compile(rule.pattern + rule.end, re.ASCII)
        assert rule.keyword and rule.back[0] <= rule.back[1]


def test_a_token_ends_where_another_script_begins() -> None:
    token = "pypi-" + "AgEIcHlwaS5vcmc" + LETTERS
    assert clear(f"{token}密码你好") == "[secret: pypi-token]密码你好"
    database = "pscale" + "_pw_" + LETTERS[:40]
    assert clear(f"{database}密码8Q~") == "[secret: planetscale-token]密码8Q~"
    short = "pypi-" + "AgEIcHlwaS5vcmc" + LETTERS[:30]
    assert clear(f"{short}密码{LETTERS[:40]}") == f"{short}密码{LETTERS[:40]}"  # neither part is long enough


def test_tokens_side_by_side_are_all_taken_out_at_once() -> None:
    key, pat = "AKIA" + "Q3EGRLIH4XUZ5TPN", "ghp" + "_" + LETTERS[:36]
    assert clear(key + key + pat) == "[secret: aws-access-key]" * 2 + "[secret: github-pat]"


def test_a_stream_holds_a_token_whose_keyword_holds_another_keyword() -> None:
    token = "glpat" + "-" + LETTERS[:20]
    stream = ClearingStream()
    assert stream.feed("glpat") + stream.feed(token[5:]) + stream.close() == "[secret: gitlab-token]"


def test_amazons_example_key_is_no_secret() -> None:
    assert clear("AKIA" + "IOSFODNN7EXAMPLE") == "AKIA" + "IOSFODNN7EXAMPLE"


def test_zeros_in_base64_are_no_token_of_square() -> None:
    drawing = "d1Ww4DAAAC/EAAAA" + LETTERS[:30] + "+kJ8x"
    assert clear(drawing) == drawing
    assert clear("EAAA" + LETTERS[:30]) == "[secret: square-access-token]"


def test_a_call_that_is_compared_names_no_secret() -> None:
    line = 'assert maple_code(2 * pw) == "2*piecewise(x < 1, x, x^2)"'
    assert clear(line) == line
    assert clear('if password == "Tr0ub4dor&3x":') == 'if password == "[secret: generic-api-key]":'
