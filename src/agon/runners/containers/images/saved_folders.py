"""Save the content of an image's writable folders, which are mounted empty at each start.

What belongs to another user than root, and which folders are closed to others, is saved beside it:
an agent that is not root must not read what an image keeps from it.
"""

from typing import Final

from agon.runners.containers.first_process import (
    CLOSED,
    LINKS,
    NAMES,
    OWNERS,
    PRIVATE,
    SEED,
    SHELL,
    SOUND,
    STARTER,
)

# Runs as root while an image is built: saves the content of the named folders and makes them
# writable for all, since the mounts take over their permissions.
SAVE_FOLDERS: Final = f"""\
set -e
PATH={SOUND}; export PATH
for tool in chmod cp mkdir mkfifo rm sleep tar timeout; do
    command -v $tool >/dev/null || {{ echo "the image lacks $tool" >&2; exit 1; }}
done
folders="$*"; set --
for folder in $folders; do
    for name in "$folder"/* "$folder"/.[!.]* "$folder"/..?*; do
        case $name in /run/.containerenv|/run/secrets) continue ;; esac
        if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "${{name#/}}"; fi
    done
done
mkdir -p {PRIVATE}
: > {OWNERS}; : > {CLOSED}
if command -v find > /dev/null && command -v stat > /dev/null; then
    for folder in $folders; do
        [ -d "$folder" ] || continue
        find "$folder" -mindepth 1 -depth '(' ! -user 0 -o ! -group 0 ')' \\
            -exec stat -c '%u:%g %n' '{{}}' + >> {OWNERS} 2> /dev/null || :
        case $(stat -c %a "$folder") in *[0-9]00) echo "$folder" >> {CLOSED} ;; esac
    done
fi
for folder in $folders; do mkdir -p "$folder"; chmod 1777 "$folder"; done
cd /
if [ $# -gt 0 ]; then tar -c -f {SEED} -- "$@"; else : > {SEED}; fi
if [ -s {SEED} ]; then tar -t -f {SEED} > {NAMES}; else : > {NAMES}; fi
while IFS= read -r name; do
    if [ -L "/$name" ] && target=$(readlink "/$name" 2>/dev/null); then
        echo "$name"; echo "$target"
    fi
done < {NAMES} > {LINKS}
mkdir -p {PRIVATE}/start
cp /bin/sh {STARTER}
cp /bin/sh {SHELL}
for tool in bash nmeter sleep tar; do
    for folder in /bin /usr/bin /usr/local/bin; do
        [ ! -x $folder/$tool ] || {{ cp $folder/$tool {PRIVATE}/$tool; break; }}
    done
    [ ! -e {PRIVATE}/$tool ] || chmod 111 {PRIVATE}/$tool
done
chmod 755 {PRIVATE} {PRIVATE}/start {STARTER}
chmod 111 {SHELL}
chmod 644 {SEED} {NAMES} {LINKS} {OWNERS} {CLOSED}
"""
