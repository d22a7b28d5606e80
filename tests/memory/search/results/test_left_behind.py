"""What its owner left is superseded, in Chinese as in English."""

import pytest

from memory.search.results.contradictions import contradicts
from memory.search.results.statements import statements


@pytest.mark.parametrize(
    ("before", "after", "superseded"),
    [
        ("我住在北京。", "我搬家了，现在住在上海。", True),
        ("我家在成都高新区。", "上个月搬到重庆了，新家在渝中区。", True),
        ("我在腾讯上班。", "我换工作了，现在在字节跳动上班。", True),
        ("我在华为做测试。", "我跳槽了，下周去美团报到。", True),
        ("I work at Northwind as an analyst.", "I changed jobs: I work at Contoso now.", True),
        ("客厅铺瓷砖。", "客厅改成木地板。", True),
        ("我用的是华为手机。", "手机换成小米了。", True),
        ("我的车是大众。", "我换车了，现在开特斯拉。", True),
        ("我住在北京。", "公司搬到上海了。", False),
        ("我在腾讯上班。", "我想换工作。", False),
        ("我住在北京。", "要是我搬到上海就好了。", False),
        ("客厅刷了白漆。", "客厅改成木地板。", False),
        ("我养了一只猫。", "我现在养了一只狗。", False),
    ],
)
def test_a_home_a_job_or_a_thing_that_was_left(before: str, after: str, superseded: bool) -> None:
    found = any(contradicts(new, old) for new in statements(after) for old in statements(before))
    assert found is superseded
