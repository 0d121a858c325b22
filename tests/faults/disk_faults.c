/* Loaded before libc (LD_PRELOAD): makes the disk fail while a file of that name lies in $LAPWING_FAULTS.
 *
 *   fsync  fdatasync and fsync fail with EIO
 *   full   pwritev and fallocate fail with ENOSPC
 *
 * Only these calls, which the broker's log makes and nothing else in its process does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char *fault) {
    const char *folder = getenv("LAPWING_FAULTS");
    char path[4096];
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    return access(path, F_OK) == 0;
}

static int fail(int error) {
    errno = error;
    return -1;
}

int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return fails("fsync") ? fail(EIO) : real(fd);
}

int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return fails("fsync") ? fail(EIO) : real(fd);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    ssize_t (*real)(int, const struct iovec *, int, off_t) =
        (ssize_t (*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "pwritev");
    return fails("full") ? fail(ENOSPC) : real(fd, parts, count, at);
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    int (*real)(int, int, off_t, off_t) = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate");
    return fails("full") ? fail(ENOSPC) : real(fd, mode, offset, length);
}
