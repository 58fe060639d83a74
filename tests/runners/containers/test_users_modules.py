"""The user's folder of Python modules counts where the image has it, and as the image has it."""

from pathlib import Path

import pytest

from agon.app.containers import ImageSpec
from runners.containers.coreutils_image import import_coreutils_image
from runners.containers.course import Course


@pytest.mark.exhaustive
def test_modules_that_an_image_installed_for_its_user_are_found(
    course: Course, tmp_path: Path
) -> None:
    """As ``pip install --user`` leaves them; a file that a program adds there runs nowhere."""
    folder = "$(python3 -m site --user-site)"
    (tmp_path / "Dockerfile").write_text(
        f"FROM {import_coreutils_image()}\n"
        f'RUN mkdir -p "{folder}" /srv/more && echo "answer = 42" > "{folder}/installed.py" \\\n'
        f'    && echo /srv/more > "{folder}/more.pth" && echo "last = 1" > /srv/more/further.py\n'
        "WORKDIR /app\n"
    )
    own = Course(
        course.containers, course.containers.build(ImageSpec(context=tmp_path)), course.folder
    )
    tests = (
        f'echo "import os; os._exit(0)" | tee "{folder}/x.pth" > "{folder}/usercustomize.py"\n'
        "python3 -c 'import further, installed; assert (installed.answer, further.last) == (42, 1)'"
        " || exit 1\npython3 -c 'import sys; sys.exit(3)'\n"
    )
    result = own.both("true", tests, outputs=own.image.outputs)
    assert result.reason == "the tests ended with exit code 3"
