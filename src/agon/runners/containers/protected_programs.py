"""The programs of an image that the tests' container may run but not read.

A process that started from a file which it may not read is closed to others of the same user: the
kernel lets none open its memory, descriptors, environment and folders in ``/proc``. What decides a
verdict runs in such programs: the shells and interpreters of test runners, the programs that start
them (``timeout``, ``env``), and those that compare. Agents keep the image as it is.

Only programs that never read their own file are listed. Left out are programs that carry data in
it: ``bun``, ``deno`` and ``sbcl``, and what a task compiles or packs.
"""

from typing import Final

_SHELLS: Final = "sh bash dash ash busybox ksh* mksh zsh zsh-* fish yash"
_INTERPRETERS: Final = (
    "python python[0-9]* pypy* perl perl[0-9]* ruby ruby[0-9]* php php[0-9]* lua lua[0-9]* luajit* "
    "node nodejs java tclsh* guile guile-[0-9]* beam.smp R Rscript"
)
_STARTERS: Final = (
    "chrt env flock gmake gosu ionice make nice ninja nohup runuser script setpriv setsid stdbuf "
    "su sudo taskset time timeout tini unbuffer uv uvx xargs"
)
_COMPARING: Final = (
    "awk base64 cat cmp comm cut diff diff3 egrep expr fgrep find gawk grep head jq mawk "
    "md5sum od original-awk printf sed sha1sum sha256sum sha512sum sort stat tail tee test tr "
    "uniq wc"
)
_FOLDERS: Final = (
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /usr/local/*/bin /opt/*/bin "
    "/usr/lib/jvm/*/bin /usr/lib/R/bin/exec /usr/lib/erlang/erts*/bin"
)
LIST_PROGRAMS: Final = f"""\
IFS=': '
for folder in $PATH {_FOLDERS}; do
    [ ! -L "$folder" ] || continue
    for name in {_SHELLS} {_INTERPRETERS} {_STARTERS} {_COMPARING}; do
        for program in "$folder"/$name; do
            [ -f "$program" ] && IFS= read -r first < "$program" || continue
            case $first in ?ELF*) readlink -f "$program" ;; esac
        done
    done
done 2> /dev/null
"""
"""Prints the absolute path of each such program of an image, some more than once.

A script is none: its interpreter has to read it.
"""
CLOSE_PROGRAMS: Final = 'chmod 111 "$@"'
"""Runs as root while the image of the tests is built."""
