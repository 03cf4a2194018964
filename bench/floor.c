/* The floor: what hooks cost when nothing but the operating system is paid for.

   usage: floor WIDTH PROGRAM [ARG...]
   For every number on stdin, as many rounds. A round starts WIDTH children by posix_spawn with three
   pipes each, writes 1 KB of input to every one, reads what they print until they close it, waits for
   them. Prints the time of each round in nanoseconds when all of them are done. Ends with stdin, or
   with 1 when a child failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, INPUT = 1024 };
extern char **environ;
static char input[INPUT];

struct child {
    pid_t pid;
    int out, err;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static struct child start(char **argv) {
    int in[2], out[2], err[2];
    struct child child;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t defaults;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) die("pipe2");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_init(&attr);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* ignored here, and an ignored signal outlives exec */
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    errno = posix_spawn(&child.pid, argv[0], &actions, &attr, argv, environ);
    if (errno) die(argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    if (write(in[1], input, INPUT) < 0 && errno != EPIPE) die("write");
    close(in[1]);
    child.out = out[0];
    child.err = err[0];
    return child;
}

static void drain(int fd) {
    char buffer[65536];
    while (read(fd, buffer, sizeof buffer) > 0) {
    }
    close(fd);
}

static long long round_of(struct child *children, int width, char **argv) {
    struct timespec from, to;
    int failed = 0;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int k = 0; k < width; k++) children[k] = start(argv);
    for (int k = 0; k < width; k++) {
        int status;
        drain(children[k].out);
        drain(children[k].err);
        if (waitpid(children[k].pid, &status, 0) < 0) die("waitpid");
        failed |= status;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (failed) {
        fprintf(stderr, "floor: %s did not exit with 0\n", argv[0]);
        exit(1);
    }
    return (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv) {
    struct child children[MOST];
    int width = argc < 3 ? 0 : atoi(argv[1]);
    if (width < 1 || width > MOST) {
        fprintf(stderr, "usage: floor WIDTH PROGRAM [ARG...]\n");
        return 64;
    }
    memset(input, 'x', INPUT);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 65536); /* nothing is said in the middle: it would wake up who listens */
    for (int rounds; scanf("%d", &rounds) == 1; fflush(stdout)) {
        while (rounds-- > 0) printf("%lld\n", round_of(children, width, argv + 2));
    }
    return 0;
}
