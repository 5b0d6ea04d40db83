/*
 * status.h - what a server says of its own work: counts before and after the window. Inside this room.
 *
 * Read through a connection of its own by the thread that waits anyway, so that no statement of the workload waits for it. Everything here
 * may fail without a word: a repetition without these figures is still one.
 */
#ifndef STB_DB_STATUS_H
#define STB_DB_STATUS_H

#include "runtime/db/client.h"

struct stb_status {
	struct stb_client *client; /* NULL: no connection to ask */
	pid_t pid;                 /* 0: its CPU time is not known */
	bool mysql, innodb;        /* the server is MySQL; the workload's tables are InnoDB's */
	struct stb_server_change at; /* when it was last looked at */
};

/* After the workload's connections are open: this one is to take no place of theirs. pid: the server's process, or 0. engine: of
 * the tables; NULL: the server's default, which is InnoDB. */
void stb_status_open(struct stb_status *s, const struct stb_db_address *addr, pid_t pid, const char *engine);
/* Looks: what has changed since the look before goes to change (NULL: this is the first). */
void stb_status_look(struct stb_status *s, struct stb_server_change *change);
void stb_status_close(struct stb_status *s);

#endif
