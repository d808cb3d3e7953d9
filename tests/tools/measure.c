/* SPDX-License-Identifier: MIT */
/* measure COMMAND ARGS...: run it with stdout to a temporary file (grep stops at the first match
 * when it writes to /dev/null) and print its wall time in seconds and its peak RSS in bytes. If a
 * large process (Python) started the command itself, its own memory would count as the command's
 * peak. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void run(char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	FILE *out = tmpfile();

	if (null >= 0 && out != NULL && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0)
		(void)execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double begin;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	begin = now_s();
	pid = fork();
	if (pid == 0)
		run(argv + 1);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 1;
	printf("%.6f %ld\n", now_s() - begin, usage.ru_maxrss * 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
