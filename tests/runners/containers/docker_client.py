"""Stand in for docker: a program that takes only what docker's command line documents.

The options are those of docker 28's own ``--help``; what it answers is in the forms of its
documentation. It runs nothing: a container's result file gets a report and an empty archive.
"""

import json
from pathlib import Path

OPTIONS = {
    "run": "add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop "
    "cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares "
    "cpus cpuset-cpus cpuset-mems detach detach-keys device device-cgroup-rule device-read-bps "
    "device-read-iops device-write-bps device-write-iops disable-content-trust dns dns-option "
    "dns-search domainname entrypoint env env-file expose gpus group-add health-cmd "
    "health-interval health-retries health-start-interval health-start-period health-timeout "
    "hostname init interactive ip ip6 ipc isolation label label-file link link-local-ip "
    "log-driver log-opt mac-address memory memory-reservation memory-swap memory-swappiness mount "
    "name network network-alias no-healthcheck oom-kill-disable oom-score-adj pid pids-limit "
    "platform privileged publish publish-all pull quiet read-only restart rm runtime security-opt "
    "shm-size sig-proxy stop-signal stop-timeout storage-opt sysctl tmpfs tty ulimit user userns "
    "uts volume volume-driver volumes-from workdir",
    "build": "add-host build-arg cache-from cgroup-parent compress cpu-period cpu-quota cpu-shares "
    "cpuset-cpus cpuset-mems disable-content-trust file force-rm iidfile isolation label memory "
    "memory-swap network no-cache platform pull quiet rm security-opt shm-size squash tag target "
    "ulimit",
    "exec": "detach detach-keys env env-file interactive privileged tty user workdir",
    "rm": "force link volumes f l v",
    "ps": "all filter format last latest no-trunc quiet size a q",
    "images": "all digests filter format no-trunc quiet tree a q",
    "rmi": "force no-prune f",
    "image": "format",
    "container": "format size",
    "info": "format",
    "pull": "quiet q",
    "network": "filter format no-trunc quiet",
}
INFO = {
    "ServerVersion": "28.2.2", "CgroupVersion": "2", "DefaultRuntime": "runc", "MemoryLimit": True,
    "PidsLimit": True, "CpuCfsQuota": True,
}  # fmt: skip
IMAGE = [{
    "Id": "sha256:1", "Config": {"User": "", "WorkingDir": "/app", "Env": ["PATH=/bin"], "Labels": {
        "agon.writable": "/app", "agon.workdir": "/app", "agon.outputs": "/app",
        "agon.home": "/root"}},
}]  # fmt: skip
_PROGRAM = """\
#!/bin/sh
verb=$1 asked=$1; shift
case $verb in
{cases}
*) echo "docker: '$verb' is not a docker command." >&2; exit 1 ;;
esac
case $verb in
image|container) [ "$1" = inspect ] || exit 1; shift ;;
network) [ "$1" = ls ] || exit 1; shift ;;
esac
name= source= network= host= image_id=
while [ $# -gt 0 ]; do
    case $1 in
        --*) option=${{1#--}}; option=${{option%%=*}} ;;
        -?) option=${{1#-}} ;;
        *) break ;;
    esac
    asked="$asked $1"
    case " $known " in
        *" $option "*) ;;
        *) echo "unknown flag: $1" >&2; exit 125 ;;
    esac
    case $1 in
        --name=*) name=${{1#--name=}} ;;
        --network=container:*) network=1 ;;
        --hostname=*) host=1 ;;
        --iidfile=*) image_id=${{1#--iidfile=}} ;;
        --mount=*target=/.agon/account) source=${{1#*source=}}; source=${{source%%,*}} ;;
        --format) shift ;;
    esac
    shift
done
echo "$asked" >> {log}
if [ "$network" ] && [ "$host" ]; then
    echo "conflicting options: hostname and the network mode" >&2; exit 125
fi
case $verb in
info) cat {info} ;;
image) if [ -e {built} ]; then cat {image}; else echo "Error: No such image: $1" >&2; exit 1; fi ;;
build) printf sha256:1 > $image_id; : > {built} ;;
run) if [ ! "$name" ]; then echo /root; echo /app; echo listed; elif [ "$source" ]; then
    printf 'begun 1.00\\nended 2.00 code 0 left 0 oom 0 pids 0 ' > $source
    printf 'intact 1 watched 1\\n\\n\\n' >> $source
    head -c 10240 /dev/zero >> $source; fi ;;
esac
"""


def write_docker(folder: Path) -> tuple[Path, Path]:
    """Write the program; return its path and that of the file with what it was asked."""
    log, built = folder / "asked", folder / "built"
    for name, value in (("info", INFO), ("image", IMAGE)):
        (folder / name).write_text(json.dumps(value))
    log.touch()
    program = folder / "docker"
    program.write_text(
        _PROGRAM.format(
            log=log, built=built, info=folder / "info", image=folder / "image",
            cases="\n".join(f"{verb}) known='{text}' ;;" for verb, text in OPTIONS.items()),
        )
    )  # fmt: skip
    program.chmod(0o755)
    return program, log
