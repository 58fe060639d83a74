"""Define the first process of a container, and read the result file that it writes.

The first process is a copy of the image's own shell with the text below. Nothing in the container
can kill it; when it ends, the kernel ends everything else. The copy can be run but not read, so the
kernel lets no process read or attach to it either; what it decides with is in it or in further such
copies, never in a program of the image that a process inside could change. It unpacks the initial
content, runs the command, ends it when its time is up, counts and kills the processes that the
command left, and replaces itself by the ``tar`` that writes the outputs. Once the command runs it
starts no further process, so that a container full of processes cannot stop it. All tools are on a
fixed path, in read-only folders; the command gets the image's own path back.

*Servers.* Where a trial keeps them, the processes that the command left go on: the first process
then starts ``tar``, writes the line :data:`KEPT`, and waits until the container is removed.

*The command* is a child of a further copy of the shell, the *waiter*, which writes its exit code to
a pipe. So the first process is free to notice the end of processes that have lost their parent. The
waiter is started by a process that it ends: shells let background commands ignore SIGINT.

*Time.* Two copies of ``sleep`` end at the limit and after the grace period. Each is the only
process that has the write end of a pipe open; a copy of the shell reads the other ends and sends
the signals. All three are children of the first process, as the waiter becomes one.

*A reward* that stands when a process ends whose parent did not wait for it gets a mark: a line of
white space (:data:`MARK`), which a later write removes. Such a process could have written the
reward after the tests, and the first process inherits it, whatever it does to hide. It is collected
after the mark, in a loop that reads the exit code's pipe. The trap for such ends sets a variable
and interrupts ``read``; it does nothing that a further signal could interrupt, so neither many ends
nor many signals harm it. An end between the loop's look at the variable and ``read`` is noticed
50 ms later: where ``read`` knows no such limit, a copy of bash or of busybox's ``nmeter``, the
*ticker*, writes lines to the pipe. A busybox without that looks each second.

*Processes that were left* are counted by state, thread by thread, and by the control group, which
counts what ``/proc`` hides and processes whose first thread has ended. A thread's state is read
from ``status``, where names are escaped; in ``stat`` a name can look like a state.

It writes one *result file*: when the command began, how it ended, and then the archive. With podman
that is a pipe which it inherits and the command does not, so nothing else in the container can
write there, and the host reads no more than the trial's budget. Other engines mount a host file: it
is opened before the command begins and written after all its processes have ended, so whatever they
wrote there is overwritten.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from agon.errors import InvalidRule

PRIVATE: Final = "/.agon"
"""The folder of the image for agon's files: the result file, archives to unpack."""
SHELL: Final = f"{PRIVATE}/sh"
"""The copy of the shell; busybox selects its applet by the last name. There is one of bash too."""
ACCOUNT: Final = f"{PRIVATE}/account"
SEED: Final = f"{PRIVATE}/seed.tar"
"""The image's content of its writable folders, which mounts hide."""
NAMES: Final = f"{PRIVATE}/names"
"""The names in it, a line each."""
OWNERS: Final = f"{PRIVATE}/owners"
"""What in it is not root's, a line ``UID:GID NAME`` for each, what is in a folder before it."""
CLOSED: Final = f"{PRIVATE}/closed"
"""The writable folders that the image opens to its owner alone, a line each."""
LINKS: Final = f"{PRIVATE}/links"
"""The symbolic links in it, a line for the name and one for the target of each.

It is the first entry of an agent's archive, from the read-only image."""
OUTPUTS: Final = f"{PRIVATE}/outputs.tar"
OUTPUTS_OWNERS: Final = f"{PRIVATE}/outputs.owners"  # as OWNERS, with users alone
SOUND: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MARK: Final = "\t \t \t"
"""The line after a reward that was not written again once a process without a parent had ended."""
MAX_REWARD_BYTES: Final = 1 << 16
KEPT: Final = "agon: the processes go on"
"""The line after an archive while what the command left goes on.

An agent can place it in its archive, which is then cut off there."""
STARTER: Final = f"{PRIVATE}/start/sh"
"""A copy of the shell that can be read: a process of one that cannot may not set its own scores."""
_PIPES: Final = "/run/.agon-pipes"
GRACE_S: Final = 5
"""Seconds from SIGTERM to SIGKILL."""

# match() anchors it at the first byte: the report stands before all of the archive.
_ENDED = re.compile(
    rb"begun (?P<begun>\d+\.\d+)\n"
    rb"ended (?P<ended>\d+\.\d+) code (?P<code>\d{1,3}) left (?P<left>\d+) "
    rb"oom (?P<oom>\d+) pids (?P<pids>\d+) intact (?P<intact>[01]) watched (?P<watched>[01])\n"
)
_SHELLS = re.compile(
    rb"#!\s*(?:(?:/usr)?/bin/|/usr/bin/env\s+)(?P<shell>sh|bash)(?:\s+(?P<option>-[\w-]+))?"
)
_MAX_BYTES = 200
_MAX_ARGUMENT_BYTES: Final = 128 << 10

# Makes itself the first victim of a full memory, and execs the command with the image's path.
_STAGE: Final = '{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; PATH=$1; shift; exec "$@"'
# $1 is the limit in seconds, $2 the working folder, $3 whether what the command leaves may go on,
# $4 whether the image's files get their owners, for a command that does not remain root.
# Then patterns of outputs to replace and "--", the outputs to write and "--", the command.
FIRST_PROCESS: Final = f"""\
path=$PATH; PATH={PRIVATE}:{SOUND}; export PATH
limit=$1 work=$2 keep=$3 owned=$4; shift 4
[ ! -s {SEED} ] || tar -x -o -f {SEED} -C / || exit 90
restore() {{  # a folder's content before the folder: root may not change that of another owner
    list=$1 owner= failed=; set --
    while read -r next name || {{ next= name=; [ $# -gt 0 ]; }}; do
        if [ "$next" != "$owner" ] || [ $# -ge 100 ]; then
            [ $# -eq 0 ] || chown -h "$owner" "$@" || failed=1
            set -- ; owner=$next
        fi
        if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "$name"; fi
    done < $list
    [ ! "$failed" ]
}}
close() {{ while read -r name; do chmod 700 "$name" || return; done < {CLOSED}; }}
while [ "$1" != -- ]; do rm -rf $1 2>/dev/null; shift; done; shift
[ ! "$owned" ] || {{ restore {OWNERS} && close; }} || exit 90
[ ! -e {OUTPUTS} ] || tar -x -o -f {OUTPUTS} -C / || exit 91
[ ! -e {OUTPUTS_OWNERS} ] || restore {OUTPUTS_OWNERS} 2> /dev/null
hand=; while [ "$1" != -- ]; do hand="$hand $1"; shift; done; shift
[ ! -d /logs ] || {{
    mkdir -p /logs/verifier /logs/agent /logs/artifacts; chmod 1777 /logs/agent /logs/artifacts
}} 2> /dev/null
cd "$work" || exit 92
if [ -e {ACCOUNT} ]; then exec 9<> {ACCOUNT}; else exec 9>&3 3>&-; fi
mkdir {_PIPES} && mkfifo {_PIPES}/limit {_PIPES}/grace {_PIPES}/code \\
    {_PIPES}/start {_PIPES}/never || exit 90
exec 3<> {_PIPES}/limit; exec 4> {_PIPES}/limit 5< {_PIPES}/limit
exec 3<> {_PIPES}/grace; exec 6> {_PIPES}/grace 7< {_PIPES}/grace 3>&-
exec 8>&2 2> /dev/null
read -r begun _ < /proc/uptime
sleep "$limit" 5<&- 6>&- 7<&- 8>&- 9>&- > /dev/null & late=$!
{{
    trap '' TERM; exec sleep $((limit + {GRACE_S}))
}} 4>&- 5<&- 7<&- 8>&- 9>&- > /dev/null & last=$!
{{
    read -r _ <&5; kill -TERM -1; read -r _ <&7; kill -KILL -1
}} 4>&- 6>&- 8>&- 9>&- > /dev/null & timer=$!
exec 4>&- 5<&- 6>&- 7<&-
exec 3<> {_PIPES}/code; exec 4> {_PIPES}/code 5< {_PIPES}/code
exec 6<> {_PIPES}/start 3<> {_PIPES}/never
rm -r {_PIPES}
mark='{MARK}' intact=1 watched=1 oom=0 pids=0 ended= patience= ticker= bell=3
# Whether a helper still runs. One that /proc hides runs: only what has ended is shown.
look() {{
    kill -0 "$1" || return 1
    while read -r word value; do
        case $word$value in State:Z*|State:X*) return 1 ;; State:*) return 0 ;; esac
    done < "/proc/$1/status"
    return 0
}}
# Marks the rewards that stand, then collects what has ended: tests that wait for such an end see it
# when the mark is there. The trap only asks for this: one that did it would interrupt itself.
notice() {{
    while [ "$ended" ]; do
        ended=
        for reward in /logs/verifier/reward.txt /logs/verifier/reward.json; do
            if [ -f $reward ]; then echo "$mark" >> $reward || intact=0; fi
        done
    done
    jobs > /dev/null
    for helper in $helpers; do look $helper || look $helper || watched=0; done
}}
count() {{
    own=0 live=0 dead=0 before=0 after=0
    for helper in $helpers; do
        if look $helper; then own=$((own + 1)); else watched=0; fi
    done
    for group in /sys/fs/cgroup/pids/pids.current /sys/fs/cgroup/pids.current; do
        [ ! -r $group ] || read -r before < $group
    done
    for thread in /proc/[0-9]*/task/[0-9]*; do
        case $thread in /proc/1/*|*"*"*) continue ;; esac
        state=live
        while read -r word value; do
            case $word$value in State:Z*|State:X*) state=dead; break ;; State:*) break ;; esac
        done < "$thread/status"
        thread=${{thread#/proc/}}
        case "$state $helpers " in
            dead*) dead=$((dead + 1)) ;;
            *" ${{thread%%/*}} "*) ;;
            *) live=$((live + 1)) ;;
        esac
    done
    for group in /sys/fs/cgroup/pids/pids.current /sys/fs/cgroup/pids.current; do
        [ ! -r $group ] || read -r after < $group
    done
    left=$live
    for known in $before $after; do
        [ $((known - 1 - dead - own)) -le $left ] || left=$((known - 1 - dead - own))
    done
}}
( (
    trap : HUP INT QUIT USR1 USR2 ALRM TERM
    read -r self _ _ parent _ < /proc/self/stat
    kill -KILL $parent
    echo $self >&4; read -r _ <&6
    {STARTER} -c '{_STAGE}' sh "$path" "$@" 2>&8 3>&- 4>&- 5<&- 6>&- 8>&- 9>&-
    code=$?; for copy in 1 2 3; do echo =$code= >&4; done; read -r _ <&3
); : )
read -r waiter <&5
if [ "$BASH_VERSION" ]; then patience='-t 0.05'
elif [ -x {PRIVATE}/bash ] || [ -x {PRIVATE}/nmeter ]; then
    {{
        [ -x {PRIVATE}/bash ] || exec nmeter -d 50 .
        exec bash -p -c 'while :; do read -r -t 0.05 _ <&3; echo; done'
    }} 5<&- 6>&- 8>&- 9>&- >&4 & ticker=$! bell=5
elif (read -r -t 1 _ < /dev/null; [ $? = 1 ]); then patience='-t 1'
fi
exec 4>&-
helpers="$timer $late $last $waiter $ticker"
trap 'ended=1' CHLD
echo "begun $begun" >&9
echo >&6
code=
until [ "$code" ]; do  # an end interrupts `read`, or its patience or a tick ends it
    read $patience -r word <&5 || word=
    case $word in =*=) code=${{word#=}} code=${{code%=}} ;; esac  # else its first part was lost
    look $waiter || break
    [ ! "$ended" ] || notice
done
count
if [ ! "$code" ]; then  # the waiter was killed: wait for the command itself
    code=137
    while [ $left -gt 0 ]; do read $patience -r _ <&$bell; notice; count; done
fi
[ ! "$ended" ] || notice
read -r finished _ < /proc/uptime
for path in /logs/verifier /logs/verifier/reward.txt /logs/verifier/reward.json; do
    [ ! -e $path ] || [ -O $path ] || intact=0
    [ ! -f $path ] || true < $path || intact=0
done
trap - CHLD
kill -KILL $timer $waiter $ticker; wait $timer; kill -KILL $late $last; wait $late $last
[ "$keep" ] && [ $left -gt 0 ] || keep=
[ "$keep" ] || kill -KILL -1
exec 2>&8 8>&-
for events in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
    [ ! -r $events ] || while read -r word count; do
        [ "$word" != oom_kill ] || oom=$count
    done < $events
done
for events in /sys/fs/cgroup/pids/pids.events /sys/fs/cgroup/pids.events; do
    [ ! -r $events ] || while read -r word count; do
        [ "$word" != max ] || pids=$count
    done < $events
done
cd /
for name in txt json; do
    text=
    [ ! -f /logs/verifier/reward.$name ] || while IFS= read -r line || [ "$line" ]; do
        text="$text$line/"
        [ ${{#text}} -lt {MAX_REWARD_BYTES} ] || break
    done < /logs/verifier/reward.$name
    [ ${{#text}} -le {MAX_REWARD_BYTES + 1} ] || text=; eval "$name=\\$text"
done
flags="intact $intact watched $watched"
echo "ended $finished code $code left $left oom $oom pids $pids $flags" >&9 || exit 93
printf '%s\n' "$txt" "$json" >&9 || exit 93
TAR_OPTIONS=--format=gnu; export TAR_OPTIONS
[ "$keep" ] || exec tar -c -f - -- $hand >&9
tar -c -f - -- $hand >&9; code=$?
[ $code -le 2 ] || exit 94
printf '%s\n' '{KEPT}' >&9; exec 9>&-
while :; do  # a shell that waits for its child collects all others
    {{ read -r _ <&3; }} & wait $!
done
"""


@dataclass(frozen=True)
class ProcessReport:
    """The report of a container's first process at its end.

    Attributes:
        exit_code: that of the command.
        seconds: from the start of the time limit, just before the command's, to its end: a command
            that the limit ended took as long as the limit, however slow the machine is.
        left: number of the command's processes that were still running then.
        out_of_memory: how often the kernel killed for memory.
        out_of_processes: how often it denied a process.
        intact: whether a reward can be trusted: it could be marked, belongs to the tests' user and
            can be read.
        watched: whether agon's own processes ran to the end.
        rewards: the text of ``reward.txt`` and ``reward.json``, each line followed by ``/``, as the
            first process read them itself; None in tests.
    """

    exit_code: int
    seconds: float
    left: int
    out_of_memory: int
    out_of_processes: int
    intact: bool = True
    watched: bool = True
    rewards: tuple[bytes, bytes] | None = None


def arguments(
    command: tuple[str, ...],
    *,
    limit_s: int,
    workdir: str,
    replaced: tuple[str, ...],
    handed: tuple[str, ...],
    keep: bool = False,
    owned: bool = False,
) -> tuple[str, ...]:
    """Return the arguments of an image's shell.

    Args:
        command: what to run.
        limit_s: its time limit in whole seconds.
        workdir: the folder it works in.
        replaced: absolute paths, or patterns of them, that are removed before outputs are unpacked.
        handed: absolute paths to hand over.
        keep: whether the processes that the command leaves go on.
        owned: whether the image's files have the owners that the image gives them.
    """
    paths = tuple(path.removeprefix("/") for path in handed)
    return (
        *("-c", FIRST_PROCESS, "agon", str(limit_s), workdir, "keep" if keep else ""),
        "owned" if owned else "",
        *(*replaced, "--", *paths, "--"),
        *command,
    )


def require_command(command: Sequence[str]) -> None:
    """Require a command that a kernel can start.

    Raises:
        InvalidRule: it is empty, or an argument is too long or contains a zero byte.
    """
    if not command:
        raise InvalidRule("there is no command; give a program and its arguments")
    for argument in command:
        if (
            "\0" in argument
            or len(argument.encode(errors="surrogateescape")) >= _MAX_ARGUMENT_BYTES
        ):
            raise InvalidRule(
                f"an argument of {len(argument):,} characters cannot be passed: give less than "
                f"{_MAX_ARGUMENT_BYTES >> 10} KiB without zero bytes; show a file instead"
            )


def shell_command(script: str, first_line: bytes) -> tuple[str, ...]:
    """Return the command that runs a script in the unreadable copy of the shell it names.

    The shell that runs the tests decides; a program that the tests run must not control it. A
    script for another interpreter than ``sh`` or ``bash`` runs as it is.

    Example:
        >>> shell_command("/tests/test.sh", b"#!/usr/bin/env bash")
        ('/.agon/bash', '/tests/test.sh')
        >>> shell_command("/tests/test.sh", b"#!/bin/sh -e")
        ('/.agon/sh', '-e', '/tests/test.sh')
        >>> shell_command("/tests/test.sh", b"#!/usr/bin/python3")
        ('/tests/test.sh',)
    """
    match = _SHELLS.fullmatch(first_line.strip())
    if match is None:
        return (script,)
    option = (match["option"].decode(),) if match["option"] else ()
    return (f"{PRIVATE}/{match['shell'].decode()}", *option, script)


def has_begun(account: Path) -> bool:
    """Return whether the command has begun; once it has, it can make this false."""
    return account.stat().st_size > 0


def has_ended(account: Path) -> bool:
    """Return whether the result file says that the command has ended; a command can fake it."""
    with account.open("rb") as file:
        return bool(_ENDED.match(file.read(_MAX_BYTES)))


def read_report(account: BinaryIO) -> ProcessReport | None:
    """Return the report before the archive; None when there is none."""
    match = _ENDED.match(account.read(_MAX_BYTES))
    if match is None:
        return None
    account.seek(match.end())
    # What follows was written inside the container, so no line is read without a bound.
    text, json = (account.readline(2 * MAX_REWARD_BYTES).rstrip(b"\n") for _ in range(2))
    begun, ended = float(match["begun"]), float(match["ended"])
    return ProcessReport(
        exit_code=int(match["code"]),
        # /proc/uptime has hundredths: both may fall into the same one.
        seconds=max(0.0, ended - begun),
        left=int(match["left"]),
        out_of_memory=int(match["oom"]),
        out_of_processes=int(match["pids"]),
        intact=match["intact"] == b"1",
        watched=match["watched"] == b"1",
        rewards=(text, json),
    )
