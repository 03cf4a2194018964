/* The floor: what one hook costs when nothing but the operating system is paid for.

   usage: floor COUNT WIDTH PROGRAM [ARG...]
   Starts WIDTH children at a time by posix_spawn with three pipes each, writes 1 KB of input
   to every one, reads what they print until they close it, waits for them; COUNT times.
   Prints the time of each round in nanoseconds, one a line. */
#define _GNU_SOURCE
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

enum { MOST = 64, INPUT = 1024 };
extern char **environ;

struct child {
    pid_t pid;
    int out, err;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static struct child start(char **argv) {
    static char input[INPUT];
    int in[2], out[2], err[2];
    struct child child;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    memset(input, 'x', INPUT);
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) die("pipe2");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_init(&attr);
    if (posix_spawn(&child.pid, argv[0], &actions, &attr, argv, environ)) die("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    if (write(in[1], input, INPUT) < 0) die("write");
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

int main(int argc, char **argv) {
    struct child children[MOST];
    if (argc < 4) {
        fprintf(stderr, "usage: floor COUNT WIDTH PROGRAM [ARG...]\n");
        return 64;
    }
    int count = atoi(argv[1]), width = atoi(argv[2]);
    if (width < 1 || width > MOST) return 64;
    for (int i = 0; i < count; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int k = 0; k < width; k++) children[k] = start(argv + 3);
        for (int k = 0; k < width; k++) {
            drain(children[k].out);
            drain(children[k].err);
            waitpid(children[k].pid, NULL, 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("%lld\n", (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec));
        fflush(stdout);
    }
    return 0;
}
