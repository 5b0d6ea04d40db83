/*
 * git.c - reads files of a revision through `git cat-file` and `git ls-tree`.
 *
 * Not `git show`, which would run the text conversions and filters that a repository configures; nor a library, which would be one more thing
 * to install for one command. A revision's name goes to git on standard input, as a line for --batch-check, and everything after that by
 * object id, so no name can be taken for an option, a path pattern or another revision.
 *
 * Real paths are /tree/PATH. Symbolic links are followed as the file system would, one component after the other; one that leads out of the
 * tree gives a path that does not lie beneath /tree, which the include rule refuses.
 */
#include "compiler/driver/git.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT "/tree"

enum { MAX_LINKS = 40, MAX_REV = 1000 };

struct stb_git_entry {
	const char *path;  /* from the top, without a slash at either end */
	const char *id;    /* NULL: there is none */
	unsigned mode;     /* as in a tree: 040000, 0100644, 0120000, ... */
};

/* --- running git --------------------------------------------------------------------------------------------------------------------- */

static char **environment(struct stb_arena *a)
{
	uint32_t n = 0;
	char **env;

	while (environ[n])
		n++;
	env = STB_NEW_ARRAY(a, char *, n + 3);
	memcpy(env, environ, n * sizeof(*env));
	env[n] = stb_arena_strdup(a, "GIT_NO_LAZY_FETCH=1"); /* a partial clone would ask its server */
	env[n + 1] = stb_arena_strdup(a, "GIT_OPTIONAL_LOCKS=0");
	return env;
}

/* Reads to the end, or to one byte more than the limit. false with errno: it failed. */
static bool read_output(int fd, struct stb_buf *out, size_t limit)
{
	char chunk[1 << 16];

	while (out->len <= limit) {
		const ssize_t n = read(fd, chunk, STB_MIN(sizeof(chunk), limit + 1 - out->len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		stb_buf_add(out, chunk, (size_t)n);
	}
	return true;
}

static pid_t start(struct stb_git *g, const char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t defaults;
	pid_t pid = -1;
	int code;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&pid, argv[0], &files, &attr, (char *const *)argv, environment(&g->arena));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (!code)
		return pid;
	errno = code;
	return -1;
}

/* Runs git with a text on its standard input (short: it fits into the pipe). Its exit code; -1 with errno where it could not run. */
static int run(struct stb_git *g, const char *const *argv, const char *input, struct stb_buf *out, size_t limit)
{
	int in[2], from[2], status = 0, code;
	bool whole;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC))
		return -1;
	if (pipe2(from, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	if (write(in[1], input, strlen(input)) < 0) {
		/* git will find its input short and say so by its exit code */
	}
	close(in[1]);
	pid = start(g, argv, in[0], from[1]);
	code = errno;
	close(in[0]);
	close(from[1]);
	whole = pid > 0 && read_output(from[0], out, limit);
	close(from[0]); /* a git that still writes ends by SIGPIPE */
	if (pid < 0) {
		errno = code;
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (out->len > limit)
		return 0;
	if (!whole) {
		errno = EIO;
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* --- objects ------------------------------------------------------------------------------------------------------------------------- */

static struct stb_git_entry *look_up(struct stb_git *g, const char *path)
{
	const char *const argv[] = { "git", "--no-replace-objects", "--literal-pathspecs", "ls-tree", "-z", "--full-tree", g->tree, "--", path,
		NULL };
	struct stb_git_entry *e;
	struct stb_buf out;

	for (uint32_t i = 0; i < g->n_entries; i++)
		if (!strcmp(g->entries[i]->path, path))
			return g->entries[i];
	e = STB_NEW(&g->arena, struct stb_git_entry);
	e->path = stb_arena_strdup(&g->arena, path);
	stb_buf_init(&out);
	if (!*path) { /* the top itself */
		e->mode = S_IFDIR;
		e->id = g->tree;
	} else if (run(g, argv, "", &out, 1 << 16) == 0) {
		/* MODE TYPE ID<tab>PATH<nul> */
		char *rest = NULL, *id;

		e->mode = (unsigned)strtoul(stb_buf_str(&out), &rest, 8);
		id = rest && *rest == ' ' ? strchr(rest + 1, ' ') : NULL;
		if (id)
			e->id = stb_arena_strndup(&g->arena, id + 1, strcspn(id + 1, "\t"));
	}
	stb_buf_fini(&out);
	STB_ARENA_GROW(&g->arena, g->entries, g->n_entries, g->cap_entries);
	g->entries[g->n_entries++] = e;
	return e;
}

static bool read_blob(struct stb_git *g, const char *id, struct stb_buf *out, size_t limit)
{
	const char *const argv[] = { "git", "--no-replace-objects", "cat-file", "blob", id, NULL };

	if (run(g, argv, "", out, limit) == 0)
		return true;
	errno = EIO;
	return false;
}

/* --- the loader ---------------------------------------------------------------------------------------------------------------------- */

/* Takes the last component off; false at the top. */
static bool go_up(struct stb_buf *at)
{
	const char *slash = at->len ? memrchr(at->data, '/', at->len) : NULL;

	if (!at->len)
		return false;
	at->len = slash ? (size_t)(slash - at->data) : 0;
	at->data[at->len] = '\0';
	return true;
}

/* A link: what it says goes in front of what is left. NULL with errno; or the path outside to which it leads. */
static char *follow(struct stb_git *g, struct stb_arena *a, const struct stb_git_entry *link, const char *rest, int *links)
{
	struct stb_buf target;
	char *path = NULL;

	stb_buf_init(&target);
	if (++*links > MAX_LINKS)
		errno = ELOOP;
	else if (read_blob(g, link->id, &target, 4096))
		path = stb_arena_printf(a, "%s/%s", stb_buf_str(&target), rest);
	stb_buf_fini(&target);
	return path;
}

static char *real(const struct stb_loader *l, struct stb_arena *a, const char *path)
{
	struct stb_git *g = (struct stb_git *)l; /* what was looked up is remembered */
	const size_t root = strlen(ROOT);
	const char *rest = path;
	const struct stb_git_entry *e;
	char *result = NULL;
	struct stb_buf at;
	int links = 0;

	if (!strncmp(path, ROOT "/", root + 1))
		rest = path + root + 1;
	else if (path[0] == '/')
		return stb_arena_strdup(a, path);
	stb_buf_init(&at);
	while (*rest) {
		const size_t n = strcspn(rest, "/"), before = at.len;

		if (n == 2 && !memcmp(rest, "..", 2)) {
			if (!go_up(&at)) {
				result = stb_arena_printf(a, "/%s", rest);
				goto out;
			}
		} else if (n && !(n == 1 && *rest == '.')) {
			stb_buf_adds(&at, at.len ? "/" : "");
			stb_buf_add(&at, rest, n);
		}
		rest += n;
		rest += strspn(rest, "/");
		if (at.len <= before)
			continue;
		e = look_up(g, stb_buf_str(&at));
		if (!e->id) {
			errno = ENOENT;
			goto out;
		}
		if (S_ISLNK(e->mode)) {
			rest = follow(g, a, e, rest, &links);
			if (!rest)
				goto out;
			at.len = before;
			at.data[before] = '\0';
			if (*rest == '/') {
				result = stb_arena_strdup(a, rest);
				goto out;
			}
		} else if (*rest && !S_ISDIR(e->mode)) {
			errno = ENOTDIR;
			goto out;
		}
	}
	result = stb_arena_printf(a, "%s/%s", ROOT, stb_buf_str(&at));
out:
	stb_buf_fini(&at);
	return result;
}

static enum stb_source_status load(const struct stb_loader *l, struct stb_sources *s, const char *path, const char *name, uint32_t *file,
	int *errno_out)
{
	struct stb_git *g = (struct stb_git *)l;
	enum stb_source_status status = STB_SOURCE_OK;
	const struct stb_git_entry *e;
	struct stb_buf text;

	*errno_out = ENOENT;
	if (strncmp(path, ROOT "/", strlen(ROOT) + 1))
		return STB_SOURCE_ERRNO; /* outside: only the top file comes here unasked */
	e = look_up(g, path + strlen(ROOT) + 1);
	if (!e->id)
		return STB_SOURCE_ERRNO;
	if (S_ISDIR(e->mode))
		return STB_SOURCE_DIRECTORY;
	if (!S_ISREG(e->mode))
		return STB_SOURCE_NOT_A_FILE; /* a submodule */
	stb_buf_init(&text);
	if (!read_blob(g, e->id, &text, STB_SOURCE_MAX_BYTES)) {
		*errno_out = errno;
		status = STB_SOURCE_ERRNO;
	} else if (text.len > STB_SOURCE_MAX_BYTES) {
		status = STB_SOURCE_TOO_LARGE;
	} else {
		*file = stb_sources_add(s, name, stb_buf_str(&text), text.len);
	}
	stb_buf_fini(&text);
	return status;
}

/* --- revisions ----------------------------------------------------------------------------------------------------------------------- */

bool stb_git_is_revision(const char *operand, size_t *rev_len)
{
	struct stat st;
	int braces = 0;

	if (stat(operand, &st) == 0)
		return false;
	for (const char *p = operand; *p; p++) {
		braces += (*p == '{') - (*p == '}');
		if (*p != ':' || braces > 0)
			continue;
		*rev_len = (size_t)(p - operand);
		return *rev_len > 0 && p[1];
	}
	return false;
}

/* The tree of a revision. 0, or -1 with *err. */
static int find_tree(struct stb_git *g, const char *rev, size_t len, struct stb_err *err)
{
	const char *const argv[] = { "git", "--no-replace-objects", "cat-file", "--batch-check", NULL };
	const char *line, *text;
	struct stb_buf out;
	int code, result = -1;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)rev[i] < ' ' || len > MAX_REV) {
			stb_err_set(err, 0, "a revision of git is one line of at most %d bytes", MAX_REV);
			return -1;
		}
	}
	line = stb_arena_printf(&g->arena, "%.*s^{tree}\n", (int)len, rev);
	stb_buf_init(&out);
	code = run(g, argv, line, &out, 4096);
	text = stb_buf_str(&out);
	if (code < 0) {
		stb_err_set(err, errno, "cannot run git");
		stb_err_remedy(err, "install git, or compare files");
	} else if (code) {
		stb_err_set(err, 0, "cannot read `%.*s`: there is no file of that name, and this is no git repository", (int)len, rev);
		stb_err_remedy(err, "run this inside the repository, or name two files");
	} else if (strspn(text, "0123456789abcdef") < 40 || strncmp(text + strspn(text, "0123456789abcdef"), " tree ", 6) ||
		strspn(text, "0123456789abcdef") >= sizeof(g->tree)) {
		stb_err_set(err, 0, "there is no file and no revision `%.*s` here", (int)len, rev);
		stb_err_remedy(err, "`git log` lists revisions; REV:PATH names a file in one, such as HEAD~1:specs/x.stb");
	} else {
		snprintf(g->tree, sizeof(g->tree), "%.*s", (int)strspn(text, "0123456789abcdef"), text);
		result = 0;
	}
	stb_buf_fini(&out);
	return result;
}

/* ./x and ../x are relative to the directory where we are, as git has it. */
static const char *from_here(struct stb_git *g, const char *path)
{
	static const char *const argv[] = { "git", "rev-parse", "--show-prefix", NULL };
	struct stb_buf out;

	if (strncmp(path, "./", 2) && strncmp(path, "../", 3))
		return path;
	stb_buf_init(&out);
	if (run(g, argv, "", &out, 1 << 14) == 0)
		path = stb_arena_printf(&g->arena, "%.*s%s", (int)strcspn(stb_buf_str(&out), "\n"), stb_buf_str(&out), path);
	stb_buf_fini(&out);
	return path;
}

int stb_git_open(struct stb_git *g, const char *operand, const char **path, struct stb_err *err)
{
	size_t len = 0;

	*g = (struct stb_git){ .loader = { .root = ROOT, .real = real, .load = load } };
	stb_arena_init(&g->arena);
	STB_ASSERT(stb_git_is_revision(operand, &len));
	if (find_tree(g, operand, len, err)) {
		stb_git_close(g);
		return -1;
	}
	*path = from_here(g, operand + len + 1);
	return 0;
}

void stb_git_close(struct stb_git *g)
{
	stb_arena_fini(&g->arena);
}
