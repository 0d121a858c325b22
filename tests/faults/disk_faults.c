/* Loaded before libc (LD_PRELOAD): makes the disk fail while a file of that name lies in $LAPWING_FAULTS.
 *
 *   fsync      fdatasync and fsync fail with EIO
 *   slow       fdatasync and fsync take so many milliseconds longer: the number is in the file
 *   hung       fdatasync and fsync do not return while it lies there
 *   full       whatever takes more space fails with ENOSPC
 *   capacity   so many bytes, the number is in the file, are all that the folder may take; beyond as `full`
 *   read-only  whatever would change something fails with EROFS
 *
 * Space and changes are looked at where a file lies in $LAPWING_FAULTS_OF, or anywhere if that is not set. stdio is seen through
 * fopen and fwrite, and write and its like where $LAPWING_FAULTS_OF is set (a socket has no disk): that is how others write. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)
#define BLOCK_BYTES 512

static int fails(const char *fault) {
    const char *folder = getenv("LAPWING_FAULTS");
    char path[PATH_MAX];
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    return access(path, F_OK) == 0;
}

/* What the file of a fault says; -1: there is none. */
static long long number(const char *fault) {
    const char *folder = getenv("LAPWING_FAULTS");
    char path[PATH_MAX], text[32] = "";
    if (folder == NULL) return -1;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    int fd = REAL(open, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 ? atoll(text) : -1;
}

static int fail(int error) {
    errno = error;
    return -1;
}

static int is_inside(const char *path) {
    const char *folder = getenv("LAPWING_FAULTS_OF");
    return folder == NULL || (strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/');
}

static int is_of(int fd) {
    char link[64], path[PATH_MAX];
    if (getenv("LAPWING_FAULTS_OF") == NULL) return 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

static long long bytes_below(const char *folder) {
    long long bytes = 0;
    char path[PATH_MAX];
    struct stat is;
    DIR *entries = opendir(folder);
    if (entries == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &is) != 0) continue;
        bytes += S_ISDIR(is.st_mode) ? bytes_below(path) : (long long)is.st_blocks * BLOCK_BYTES;
    }
    closedir(entries);
    return bytes;
}

/* Whether a file that grows to `end` bytes finds no room. */
static int is_beyond(int fd, long long end) {
    struct stat is;
    const char *folder = getenv("LAPWING_FAULTS_OF");
    long long capacity = number("capacity");
    if (capacity < 0 || folder == NULL || fstat(fd, &is) != 0) return 0;
    long long more = end - (long long)is.st_blocks * BLOCK_BYTES;
    return more > 0 && bytes_below(folder) + more > capacity;
}

/* 0, or why nothing can be written up to `end`. */
static int refusal(int fd, long long end) {
    if (fails("read-only") && is_of(fd)) return EROFS;
    if (fails("full") && is_of(fd)) return ENOSPC;
    return is_of(fd) && is_beyond(fd, end) ? ENOSPC : 0;
}

static int sync_or_fail(int fd, int (*real)(int)) {
    long long slow_ms = number("slow");
    while (fails("hung")) {
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    if (fails("fsync")) return fail(EIO);
    if (slow_ms > 0) {
        struct timespec pause = {slow_ms / 1000, slow_ms % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    return real(fd);
}

int fdatasync(int fd) { return sync_or_fail(fd, (int (*)(int))dlsym(RTLD_NEXT, "fdatasync")); }
int fsync(int fd) { return sync_or_fail(fd, (int (*)(int))dlsym(RTLD_NEXT, "fsync")); }

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    long long end = at;
    for (int part = 0; part < count; part++) end += (long long)parts[part].iov_len;
    int error = refusal(fd, end);
    return error ? fail(error) : REAL(pwritev, fd, parts, count, at);
}

static int refusal_inside(int fd) { return getenv("LAPWING_FAULTS_OF") != NULL && is_of(fd) ? refusal(fd, 0) : 0; }

ssize_t write(int fd, const void *bytes, size_t length) {
    int error = refusal_inside(fd);
    return error ? fail(error) : REAL(write, fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    int error = refusal_inside(fd);
    return error ? fail(error) : REAL(writev, fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    int error = refusal_inside(fd);
    return error ? fail(error) : REAL(pwrite64, fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    int error = refusal_inside(fd);
    return error ? fail(error) : REAL(pwrite, fd, bytes, length, at);
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    int error = refusal(fd, offset + length);
    return error ? fail(error) : REAL(fallocate, fd, mode, offset, length);
}

static int is_read_only(const char *path) { return fails("read-only") && is_inside(path); }

int rename(const char *from, const char *to) { return is_read_only(to) ? fail(EROFS) : REAL(rename, from, to); }
int unlink(const char *path) { return is_read_only(path) ? fail(EROFS) : REAL(unlink, path); }
int remove(const char *path) { return is_read_only(path) ? fail(EROFS) : REAL(remove, path); }

#define OPENING(path, flags, call)                                                                                     \
    do {                                                                                                               \
        mode_t mode = 0;                                                                                               \
        if (flags & O_CREAT) {                                                                                         \
            va_list more;                                                                                              \
            va_start(more, flags);                                                                                     \
            mode = va_arg(more, mode_t);                                                                               \
            va_end(more);                                                                                              \
        }                                                                                                              \
        if ((flags & (O_WRONLY | O_RDWR)) && is_read_only(path)) return fail(EROFS);                                   \
        return call;                                                                                                   \
    } while (0)

int open(const char *path, int flags, ...) { OPENING(path, flags, REAL(open, path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPENING(path, flags, REAL(open64, path, flags, mode)); }

static FILE *no_file(const char *path, const char *how) {
    if (strpbrk(how, "wa+") == NULL || !is_read_only(path)) return (FILE *)1;
    errno = EROFS;
    return NULL;
}

FILE *fopen(const char *path, const char *how) { return no_file(path, how) ? REAL(fopen, path, how) : NULL; }
FILE *fopen64(const char *path, const char *how) { return no_file(path, how) ? REAL(fopen64, path, how) : NULL; }

/* Whether stdio may take it: what it holds back is written by no function that is seen here. */
static int is_taken(FILE *file) {
    int error = refusal_inside(fileno(file));
    if (error) errno = error;
    return !error;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    return is_taken(file) ? REAL(fwrite, bytes, size, count, file) : 0;
}

#undef fwrite_unlocked
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
    return is_taken(file) ? REAL(fwrite_unlocked, bytes, size, count, file) : 0;
}
