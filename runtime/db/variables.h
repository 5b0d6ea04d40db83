/* variables.h - what a live server says of itself, and whether an option of the spec is in force there. Inside this room. */
#ifndef STB_DB_VARIABLES_H
#define STB_DB_VARIABLES_H

#include "runtime/db/client.h"

struct stb_variable {
	char *name, *value;
	char *words; /* what an enum or a set can hold, at commas, in the order of their numbers; NULL: neither, or the server does not tell */
	bool is_set; /* numbers are masks of words, not places of one */
};

struct stb_variables { /* sorted by name */
	struct stb_variable *list;
	size_t n, cap;
};

/* SHOW GLOBAL VARIABLES, and of MariaDB what enums and sets can hold. 0, or -1 with *err; stb_variables_free() in either case. */
STB_NODISCARD int stb_variables_read(struct stb_client *c, struct stb_variables *v, struct stb_err *err);
void stb_variables_free(struct stb_variables *v);

/* "128M" is 134217728, "ON" is 1, the order of a comma list is no matter; "mrr=on" agrees with every list that holds it. */
bool stb_variable_agrees(const char *is, const char *asked);
/* The same where it is known what the variable can hold: also "0" is "fsync", "tab" is "TABLE", "3" is "NONE,FILE" as the server counts. */
bool stb_variable_holds(const struct stb_variable *v, const char *asked);
/*
 * Whether the server takes `asked` for the same sql_mode as `is`: ANSI stands for several modes, and for which ones depends on its version. It is
 * set for this session alone, which should end afterwards.
 */
bool stb_variables_same_sql_mode(struct stb_client *c, const char *is, const char *asked);

enum stb_in_force {
	STB_IN_FORCE,
	STB_NOT_IN_FORCE,
	STB_NO_VARIABLE, /* the server shows nothing under that name: it cannot be told */
};

struct stb_option_check {
	char name[80];     /* of the variable it was compared with, or of the option */
	const char *is;    /* the variable's value; NULL: no variable */
	const char *asked; /* what it was compared with */
};

/*
 * Compares an option of an option file with what is in force. Besides a variable of that name: skip_x and disable_x without a variable of
 * their own ask x to be off, enable_x asks x; loose_x asks x only where the server has x; a beginning that only one variable has means that
 * one, as in option files; transaction_isolation and default_time_zone are tx_isolation and time_zone.
 */
enum stb_in_force stb_option_in_force(const struct stb_variables *v, const char *option, const char *asked, struct stb_option_check *out);

#endif
