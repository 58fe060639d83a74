"""A contest's pages on a disk."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agon.errors import NotFound
from agon.web.mirror import write_site
from fakes.contests import HOSTILE
from sizes import ALL
from web.chromium.browsing import Chromium
from web.chromium.site import Site
from web.markup import Markup


@pytest.fixture(params=["arena", "autumn"] if ALL else ["autumn"])
def mirror(site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, Path, int]:
    """Write the pages of a contest: its id, the folder, the number of pages."""
    out = tmp_path / "mirror"
    return request.param, out, write_site(site.instance.service, request.param, out)


def test_a_mirror_opens_from_a_disk(mirror: tuple[str, Path, int], chromium: Chromium) -> None:
    """A contest is shown when its server is gone: every link leads to a file, none elsewhere."""
    contest, out, count = mirror
    pages = {path: Markup(path.read_text()) for path in out.rglob("*.html")}
    assert len(pages) == count > 5
    for path, page in pages.items():
        assert (page.errors, page.inline) == ([], []), path
        for link in filter(None, [*page.links, *page.resources]):
            target = urlsplit(link)
            assert (target.scheme, target.netloc, target.query) == ("", "", ""), (path, link)
            file = (path.parent / unquote(target.path)).resolve() if target.path else path
            assert file.is_file(), (path, link)
            assert file.is_relative_to(out)
            if target.fragment and file.suffix == ".html":
                assert unquote(target.fragment) in pages[file].ids, (path, link)
    texts = "".join(page.text for page in pages.values())
    assert (HOSTILE in texts) == (contest == "arena")
    visitor = chromium.visitor("file://")
    page = visitor.page
    page.goto((out / "index.html").as_uri(), wait_until="load")
    visitor.follow("text=Rules")
    assert page.inner_text("h1") == "Rules"
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"  # it has its styles
    assert {urlsplit(request.url).scheme for request in visitor.requests} == {"file"}
    visitor.close()


@pytest.fixture
def error(site: Site, tmp_path: Path) -> Exception | None:
    """Try to write the pages of the private contest, and return the error."""
    try:
        write_site(site.instance.service, "secret", tmp_path / "mirror")
    except NotFound as error:
        return error
    return None


def test_a_private_contest_has_no_mirror(error: Exception | None, tmp_path: Path) -> None:
    """It is written with the rights of the public."""
    assert "there is no contest 'secret'" in str(error)
    assert not (tmp_path / "mirror").exists()
