/*
 * Runs the tests of the stand-in for Criterion, one fork each: "ok SUITE::NAME", "not ok SUITE::NAME" or "skip SUITE::NAME # reason".
 */
#include <criterion/criterion.h>

#include <stdarg.h>

static struct plain_test *tests;
static struct {
	const char *name;
	struct plain_options options;
} suites[32];
static int n_suites, failures;

void plain_add_test(struct plain_test *t)
{
	t->next = tests;
	tests = t;
}

void plain_add_suite(const char *suite, struct plain_options options)
{
	suites[n_suites].name = suite;
	suites[n_suites++].options = options;
}

void plain_fail(const char *file, int line, int fatal, const char *condition, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: %s", file, line, condition);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	failures++;
	if (fatal)
		_exit(1);
}

static const struct plain_test *current;

void plain_skip(const char *reason)
{
	printf("skip %s::%s # %s\n", current->suite, current->name, reason);
	fflush(stdout);
	_exit(PLAIN_SKIPPED);
}

static void run(const struct plain_test *t)
{
	struct plain_options o = t->options;

	current = t;
	alarm(300);
	for (int i = 0; i < n_suites; i++) {
		if (!strcmp(suites[i].name, t->suite))
			o = suites[i].options;
	}
	if (o.init)
		o.init();
	t->run();
	if (o.fini)
		o.fini();
	exit(failures != 0);
}

int main(void)
{
	int bad = 0;

	for (const struct plain_test *t = tests; t; t = t->next) {
		int status = 0;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0)
			run(t);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 2;
		if (WIFEXITED(status) && WEXITSTATUS(status) == PLAIN_SKIPPED)
			continue;
		bad += status != 0;
		printf("%s %s::%s\n", status ? "not ok" : "ok", t->suite, t->name);
	}
	return bad != 0;
}
