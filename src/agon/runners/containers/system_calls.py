"""Return the seccomp profiles of containers: which system calls their processes may make.

An engine's own profile differs from version to version and allows what forges verdicts. Here a call
is allowed if it is listed; any other fails with ENOSYS, as on a kernel without it, so that a C
library uses an older call instead. Calls that would reach another process, a namespace or the
host's kernel fail with EPERM.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Phase: TypeAlias = Literal["agent", "verifier"]
"""A container's part of a trial."""

_NAMESPACES: Final = 0x7E02_0000
"""The flags of clone(2) that create namespaces."""
_CLONE_PARENT: Final = 0x8000
"""The flag with which a process gives its child to its own parent."""
_FAMILIES: Final = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""Families of sockets; AF_VSOCK would reach the host of a virtual machine."""
_PERSONALITIES: Final = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
_EPERM: Final = 1
_ENOSYS: Final = 38

# By subject; names of other architectures are ignored by the engine.
_ALLOWED: Final = """
access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat
faccessat2 fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32
fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64
fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futimesat getcwd getdents getdents64
getxattr ioctl lchown lchown32 lgetxattr link linkat listxattr llistxattr _llseek lremovexattr
lseek lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat newfstatat open openat openat2 pipe
pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
removexattr rename renameat renameat2 rmdir sendfile sendfile64 setxattr splice stat stat64 statfs
statfs64 statx symlink symlinkat sync sync_file_range sync_file_range2 syncfs tee truncate
truncate64 umask unlink unlinkat utime utimensat utimensat_time64 utimes write writev

epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait
epoll_wait_old eventfd eventfd2 inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit _newselect
poll ppoll ppoll_time64 pselect6 pselect6_time64 select signalfd signalfd4 timerfd_create
timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64

brk madvise mbind membarrier memfd_create mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap
msync munlock munlockall munmap get_mempolicy set_mempolicy pkey_alloc pkey_free pkey_mprotect
remap_file_pages map_shadow_stack

alarm clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create timer_delete
timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 times

arch_prctl capget capset execve execveat exit exit_group fork vfork futex futex_time64 futex_waitv
futex_wait futex_wake futex_requeue get_robust_list set_robust_list get_thread_area
set_thread_area getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32
getpgid getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32
getrlimit getrusage getsid gettid getuid getuid32 ioprio_get ioprio_set kill landlock_add_rule
landlock_create_ruleset landlock_restrict_self pause pidfd_open pidfd_send_signal prctl
restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam
sched_setscheduler sched_yield seccomp set_tid_address setfsgid setfsgid32 setfsuid setfsuid32
setgid setgid32 setgroups setgroups32 setpgid setpriority setregid setregid32 setresgid
setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit setsid setuid setuid32 sigaction
sigaltstack signal sigpending sigprocmask sigreturn sigsuspend sysinfo tgkill tkill ugetrlimit
uname wait4 waitid waitpid cacheflush set_tls breakpoint riscv_flush_icache riscv_hwprobe

accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg
recvmmsg_time64 recvmsg send sendmmsg sendmsg sendto setsockopt shutdown

ipc mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend
mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop semtimedop
semtimedop_time64 shmat shmctl shmdt shmget
"""
_DENIED: Final = """
acct add_key adjtimex bpf chroot clock_adjtime clock_adjtime64 clock_settime clock_settime64
delete_module fanotify_init fanotify_mark finit_module fsconfig fsmount fsopen fspick init_module
ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mount mount_setattr move_mount
name_to_handle_at open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
process_madvise process_mrelease quotactl quotactl_fd reboot request_key setdomainname sethostname
setns settimeofday stime swapoff swapon syslog umount umount2 unshare userfaultfd vhangup
"""
_OF_OTHERS: Final = ("ptrace", "process_vm_readv", "process_vm_writev")
"""Calls that read and write other processes: for debuggers, hence allowed to agents."""
_TYPE: Final = 0xF
"""The bits of a socket's type without its flags."""
_CONNECTED_TYPES: Final = {"SOCK_STREAM": 1, "SOCK_SEQPACKET": 5}


def profile(phase: Phase, *, shared: bool = False) -> dict[str, Any]:
    """Return the profile of a phase, in the engines' JSON form.

    Args:
        phase: the phase.
        shared: whether processes of another container are in the same network. Sockets of the
            kernel's abstract names reach those and pass descriptors on, with which a reward could
            be written from there; so there are none of that family but connected pairs.

    Example:
        >>> rules = profile("verifier")["syscalls"]
        >>> next(rule["action"] for rule in rules if "ptrace" in rule["names"])
        'SCMP_ACT_ERRNO'
    """
    debugging = _OF_OTHERS if phase == "agent" else ()
    forbidden = () if phase == "agent" else _OF_OTHERS
    # A process that the agent left must not become a child of the tests, which do not notice it.
    flags = _NAMESPACES if phase == "agent" else _NAMESPACES | _CLONE_PARENT
    local = ("AF_UNIX",) if shared else ()
    families = (value for name, value in _FAMILIES.items() if name not in local)
    pairs = (
        [_rule("ALLOW", ("socketpair",), (1, "MASKED_EQ", _TYPE, value))
         for value in _CONNECTED_TYPES.values()]
        if shared else [_rule("ALLOW", ("socketpair",))]
    )  # fmt: skip
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _ENOSYS,
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
        ],
        "syscalls": [
            _rule("ALLOW", (*_ALLOWED.split(), *debugging)),
            {**_rule("ERRNO", (*_DENIED.split(), *forbidden)), "errnoRet": _EPERM},
            {**_rule("ERRNO", ("clone3",)), "errnoRet": _ENOSYS},  # its flags are out of reach
            _rule("ALLOW", ("clone",), (0, "MASKED_EQ", flags, 0)),
            # Limits of this process, and reading those of others.
            _rule("ALLOW", ("prlimit64",), (0, "EQ", 0)),
            _rule("ALLOW", ("prlimit64",), (2, "EQ", 0)),
            {**_rule("ERRNO", ("prlimit64",), (0, "NE", 0), (2, "NE", 0)), "errnoRet": _EPERM},
            *(_rule("ALLOW", ("socket",), (0, "EQ", family)) for family in families),
            *pairs,
            *(_rule("ALLOW", ("personality",), (0, "EQ", flags)) for flags in _PERSONALITIES),
        ],
    }  # fmt: skip


def write_profiles(folder: Path) -> Mapping[tuple[Phase, bool], Path]:
    """Write the profiles to files, for the engine's client; return their paths.

    The keys are the phase, and whether its network is shared.
    """
    phases: tuple[Phase, ...] = ("agent", "verifier")
    files = {(phase, False): folder / f"seccomp-{phase}.json" for phase in phases}
    files["verifier", True] = folder / "seccomp-verifier-shared.json"
    files["agent", True] = files["agent", False]
    for (phase, shared), file in files.items():
        file.write_text(json.dumps(profile(phase, shared=shared and phase == "verifier"), indent=1))
    return files


def _rule(
    action: str,
    names: tuple[str, ...],
    *conditions: tuple[int, str, int] | tuple[int, str, int, int],
) -> dict[str, Any]:
    arguments = [
        {"index": index, "op": f"SCMP_CMP_{compare}", "value": value,
         "valueTwo": further[0] if further else 0}
        for index, compare, value, *further in conditions
    ]  # fmt: skip
    return {"names": list(names), "action": f"SCMP_ACT_{action}", "args": arguments}
