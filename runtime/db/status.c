/*
 * status.c - see status.h.
 *
 * CPU time comes from the clock of the process, which counts all its threads to the nanosecond, those included that have ended; /proc/PID/stat
 * has the same in hundredths of a second. The counts come from SHOW GLOBAL STATUS, which every account may ask for. A counter that runs
 * backwards (FLUSH STATUS, a server that was started anew) makes no figure.
 *
 * MySQL counts what it does with its own temporary tables among the Handler_* of all tables, the rows of SHOW GLOBAL STATUS included. There rows are
 * what InnoDB counts for itself; of tables of another engine they are not told.
 */
#include "runtime/base/clock.h"
#include "runtime/db/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define CONNECT_TIMEOUT_S 2
#define IO_TIMEOUT_S 2

static const char *const variables[STB_N_SERVER_COUNTS] = {
#define STB_X(symbol, metric, names) [STB_SERVER_##symbol] = names,
	STB_SERVER_COUNTS(STB_X)
#undef STB_X
};

static const char *const rows_of_mysql[STB_N_SERVER_COUNTS] = {
	[STB_SERVER_ROWS_READ] = "Innodb_rows_read", [STB_SERVER_ROWS_INSERTED] = "Innodb_rows_inserted",
	[STB_SERVER_ROWS_UPDATED] = "Innodb_rows_updated", [STB_SERVER_ROWS_DELETED] = "Innodb_rows_deleted",
};

static bool has_word(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == n && strncasecmp(p, word, n) == 0)
			return true;
	return false;
}

/* The names of the variables that make a figure; "" where none does. */
static const char *variables_of(const struct stb_status *s, uint32_t figure)
{
	if (!s->mysql || !rows_of_mysql[figure])
		return variables[figure];
	return s->innodb ? rows_of_mysql[figure] : "";
}

struct look {
	const struct stb_status *status;
	struct stb_server_change at;
};

static bool take_row(void *ctx, const char *const *cells, uint32_t n_cells)
{
	struct look *look = ctx;
	struct stb_server_change *at = &look->at;
	char *end;

	if (n_cells < 2 || !cells[0] || !cells[1])
		return true;
	for (uint32_t i = 0; i < STB_N_SERVER_COUNTS; i++) {
		if (!has_word(variables_of(look->status, i), cells[0]))
			continue;
		errno = 0;
		const unsigned long long value = strtoull(cells[1], &end, 10);

		if (errno || end == cells[1] || *end)
			continue;
		at->known |= 1u << i;
		at->count[i] += value;
	}
	return true;
}

static void read_cpu(pid_t pid, struct stb_server_change *at)
{
	struct timespec ts;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return;
	at->has_cpu = true;
	at->cpu_ns = (uint64_t)ts.tv_sec * STB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

void stb_status_open(struct stb_status *s, const struct stb_db_address *addr, pid_t pid, const char *engine)
{
	const struct stb_client_limits limits = {CONNECT_TIMEOUT_S, IO_TIMEOUT_S};
	struct stb_db_address server = *addr;
	char text[128];
	unsigned code;

	*s = (struct stb_status){.pid = pid, .innodb = !engine || strcasecmp(engine, "innodb") == 0};
	server.schema = NULL;
	if (stb_client_try(&s->client, &server, &limits, &code, text, sizeof(text)))
		s->client = NULL;
	s->mysql = s->client && !stb_client_server_is_mariadb(s->client);
}

void stb_status_look(struct stb_status *s, struct stb_server_change *change)
{
	struct look look = {.status = s};

	read_cpu(s->pid, &look.at);
	if (s->client && stb_client_rows(s->client, "SHOW GLOBAL STATUS", take_row, &look))
		look.at.known = 0;
	const struct stb_server_change now = look.at;

	if (change) {
		*change = (struct stb_server_change){.known = now.known & s->at.known, .has_cpu = now.has_cpu && s->at.has_cpu};
		for (uint32_t i = 0; i < STB_N_SERVER_COUNTS; i++) {
			if (now.count[i] < s->at.count[i])
				change->known &= ~(1u << i);
			else
				change->count[i] = now.count[i] - s->at.count[i];
		}
		if (change->has_cpu && now.cpu_ns >= s->at.cpu_ns)
			change->cpu_ns = now.cpu_ns - s->at.cpu_ns;
		else
			change->has_cpu = false;
	}
	s->at = now;
}

void stb_status_close(struct stb_status *s)
{
	if (s->client)
		stb_client_close(s->client);
	s->client = NULL;
}
