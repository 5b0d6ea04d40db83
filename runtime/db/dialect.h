/*
 * dialect.h - what the two families of servers call differently. Inside this room.
 *
 * Whatever both understand is written where it is used; a word that only one of them knows stands in the table, once.
 */
#ifndef STB_DB_DIALECT_H
#define STB_DB_DIALECT_H

#include <stdbool.h>

struct stb_dialect {
	const char *name; /* "MariaDB" */
	const char *initialise; /* the argument that makes a data directory */

	/* lines of the option file */
	const char *always;
	const char *waits;    /* of a replica: it does not begin by itself */
	const char *gtid;     /* of whoever takes part in replication */
	const char *semi_primary, *semi_replica;

	const char *accounts; /* SQL of the first start, after the accounts of stb */

	/* replication */
	const char *change, *prefix; /* PREFIX_HOST, PREFIX_PORT, ... */
	const char *more;            /* how its place in the binary log is found */
	const char *start, *status, *position, *applied; /* applied: what a replica has carried out */
	const char *wait;            /* a function of a position and seconds */
};

const struct stb_dialect *stb_dialect_of(bool mariadb);

/*
 * What a server of this family has instead of an option that it does not know: a whole sentence's end, or NULL. Never put in its place: the
 * two need not mean the same.
 */
const char *stb_dialect_instead(const struct stb_dialect *d, const char *option);

#endif
