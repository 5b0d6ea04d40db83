/*
 * A stand-in for Criterion under ThreadSanitizer, whose address space Criterion's sandbox cannot map its arena into: the same macros, each
 * test in a plain fork. Holds what the tests of threaded code use, and no more (tests/support/plain/main.c runs them).
 */
#ifndef STB_PLAIN_CRITERION_H
#define STB_PLAIN_CRITERION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct plain_options {
	void (*init)(void);
	void (*fini)(void);
	double timeout;
};

struct plain_test {
	const char *suite, *name;
	void (*run)(void);
	struct plain_options options;
	struct plain_test *next;
};

#define PLAIN_SKIPPED 77

void plain_add_test(struct plain_test *t);
void plain_add_suite(const char *suite, struct plain_options options);
/* Says what failed; exits when fatal. */
void plain_fail(const char *file, int line, int fatal, const char *condition, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
__attribute__((noreturn)) void plain_skip(const char *reason);

#define Test(suite_, name_, ...)                                                                             \
	static void suite_##_##name_##_run(void);                                                            \
	static struct plain_test suite_##_##name_##_test = { .suite = #suite_,                                \
		.name = #name_,                                                                              \
		.run = suite_##_##name_##_run,                                                               \
		.options = { .init = NULL, ##__VA_ARGS__ } };                                                \
	__attribute__((constructor)) static void suite_##_##name_##_add(void)                                \
	{                                                                                                    \
		plain_add_test(&suite_##_##name_##_test);                                                    \
	}                                                                                                    \
	static void suite_##_##name_##_run(void)

#define TestSuite(suite_, ...)                                                                               \
	__attribute__((constructor)) static void suite_##_suite(void)                                        \
	{                                                                                                    \
		plain_add_suite(#suite_, (struct plain_options){ __VA_ARGS__ });                             \
	}                                                                                                    \
	struct plain_test

#define PLAIN_CHECK(fatal, cond, ...)                                                                        \
	((cond) ? (void)0 : plain_fail(__FILE__, __LINE__, (fatal), #cond, " " __VA_ARGS__))

#define cr_expect(c, ...) PLAIN_CHECK(0, c, ##__VA_ARGS__)
#define cr_assert(c, ...) PLAIN_CHECK(1, c, ##__VA_ARGS__)
#define cr_expect_not(c, ...) cr_expect(!(c), ##__VA_ARGS__)
#define cr_assert_not(c, ...) cr_assert(!(c), ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...) cr_expect((a) == (b), ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b), ##__VA_ARGS__)
#define cr_expect_neq(a, b, ...) cr_expect((a) != (b), ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...) cr_assert((a) != (b), ##__VA_ARGS__)
#define cr_expect_lt(a, b, ...) cr_expect((a) < (b), ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...) cr_assert((a) < (b), ##__VA_ARGS__)
#define cr_expect_leq(a, b, ...) cr_expect((a) <= (b), ##__VA_ARGS__)
#define cr_expect_gt(a, b, ...) cr_expect((a) > (b), ##__VA_ARGS__)
#define cr_expect_geq(a, b, ...) cr_expect((a) >= (b), ##__VA_ARGS__)
#define cr_expect_null(a, ...) cr_expect((a) == NULL, ##__VA_ARGS__)
#define cr_expect_not_null(a, ...) cr_expect((a) != NULL, ##__VA_ARGS__)
#define cr_assert_not_null(a, ...) cr_assert((a) != NULL, ##__VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) cr_expect(!strcmp((a), (b)), ##__VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) cr_expect(strcmp((a), (b)) != 0, ##__VA_ARGS__)
#define cr_assert_fail(...) plain_fail(__FILE__, __LINE__, 1, "fail", " " __VA_ARGS__)
#define cr_skip_test(reason) plain_skip(reason)

#endif
