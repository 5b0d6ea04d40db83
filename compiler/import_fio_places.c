/* import_fio_places.c - where fio jobs work: each directory is a storage class with a volume, each device a class with a raw volume. */
#include "compiler/import_fio.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *replace(struct stb_import *im, const char *text, const char *what, const char *by)
{
	struct stb_buf b;
	const char *s;

	stb_buf_init(&b);
	for (const char *p = text; *p;) {
		if (strncmp(p, what, strlen(what)) == 0) {
			stb_buf_adds(&b, by);
			p += strlen(what);
		} else {
			stb_buf_addc(&b, *p++);
		}
	}
	s = stb_arena_strdup(&im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return s;
}

/* The first of a list with `:`, `\:` standing for the sign itself. *several: there are more. */
static const char *first_of(struct stb_import *im, const char *list, bool *several)
{
	struct stb_buf b;
	const char *s;

	stb_buf_init(&b);
	while (*list && *list != ':') {
		if (*list == '\\' && list[1] == ':')
			list++;
		stb_buf_addc(&b, *list++);
	}
	*several = list[0] && list[1];
	s = stb_arena_strdup(&im->c->arena, stb_buf_str(&b));
	stb_buf_fini(&b);
	return s;
}

/* A file's name from filename_format: own files are NAME.0, NAME.1, ... in a spec, so the job's number goes to the end. */
static const char *from_format(struct stb_fio_import *x, struct stb_fio_job *j)
{
	struct stb_fio_option *o = j->sym[STB_FIO_FILENAME_FORMAT];
	const char *format = o && o->value && *o->value ? o->value : "$jobname.$jobnum.$filenum";

	if (o)
		o->used = true;
	j->shared = !strstr(format, "$jobnum") && j->clones > 1;
	if (!strcmp(format, "$jobname.$jobnum.$filenum"))
		return j->section->name;
	format = replace(x->im, format, ".$jobnum", "");
	format = replace(x->im, format, "$jobnum", "");
	format = replace(x->im, format, "$jobname", j->section->name); /* name= changes what is reported, not the files */
	format = replace(x->im, format, "$filenum", "0");
	return replace(x->im, format, "$clientuid", "localhost");
}

static const char *working_directory(struct stb_fio_import *x)
{
	char here[PATH_MAX];

	if (x->im->cwd)
		return x->im->cwd;
	return getcwd(here, sizeof(here)) ? stb_arena_strdup(&x->im->c->arena, here) : "/var/tmp";
}

static const char *absolute(struct stb_fio_import *x, const char *path)
{
	return *path == '/' ? path : stb_arena_printf(&x->im->c->arena, "%s/%s", working_directory(x), path);
}

/* Without `.`, empty components and a slash at the end; `..` stays. */
static const char *tidy(struct stb_fio_import *x, const char *path)
{
	struct stb_buf b;
	const char *s;

	stb_buf_init(&b);
	for (const char *p = path + strspn(path, "/"); *p; p += strspn(p, "/")) {
		const size_t n = strcspn(p, "/");

		if (!(n == 1 && *p == '.'))
			stb_buf_printf(&b, "/%.*s", (int)n, p);
		p += n;
	}
	s = stb_arena_strdup(&x->im->c->arena, b.len ? stb_buf_str(&b) : "/");
	stb_buf_fini(&b);
	return s;
}

static void find_place(struct stb_fio_import *x, struct stb_fio_job *j)
{
	struct stb_fio_option *filename = j->sym[STB_FIO_FILENAME], *directory = j->sym[STB_FIO_DIRECTORY], *option;
	struct stb_arena *a = &x->im->c->arena;
	const char *dir = ".", *file, *slash;
	bool several = false;

	if (directory && directory->value && *directory->value) {
		directory->used = true;
		dir = first_of(x->im, directory->value, &several);
		if (several && (j->clones > 1 || stb_fio_phase_size(x, j->phase) > 1))
			stb_fio_refuse(x, directory, "a workload works in one directory; the spec has the first");
		else if (several)
			stb_fio_differs(x, directory, "one job uses the first directory only");
	}
	if (filename && filename->value && *filename->value) {
		filename->used = true;
		file = first_of(x->im, filename->value, &several);
		if (several)
			stb_fio_refuse(x, filename, "a job works on one file; the spec has the first");
		j->shared = j->clones > 1;
		stb_fio_idle(j->sym[STB_FIO_FILENAME_FORMAT], "filename says which file it is");
	} else {
		file = from_format(x, j);
	}
	if (!stb_import_is_text(dir) || !stb_import_is_text(file)) {
		option = !stb_import_is_text(dir) || !filename ? directory : filename;
		if (option)
			stb_fio_bad(x, option, "a path in a spec is UTF-8, without control characters");
		dir = stb_import_is_text(dir) ? dir : "/";
		file = stb_import_is_text(file) ? file : "stb.data";
	}
	file = tidy(x, absolute(x, *file == '/' && !strcmp(dir, ".") ? file : stb_arena_printf(a, "%s/%s", dir, file)));
	slash = strrchr(file, '/');
	j->raw = !strncmp(file, "/dev/", 5) && strncmp(file, "/dev/shm/", 9);
	j->dir = j->raw ? file : slash == file ? "/" : stb_arena_strndup(a, file, (size_t)(slash - file));
	j->file = slash[1] ? slash + 1 : "stb.data";
}

/* Jobs of one phase that work on one file, one of them writing: a mix wants each to say so. */
static void find_shared(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_jobs; i++)
		for (uint32_t k = 0; k < i; k++) {
			struct stb_fio_job *a = &x->jobs[i], *b = &x->jobs[k];

			if (a->phase != b->phase || strcmp(a->dir, b->dir) || strcmp(a->file, b->file) || (a->clones > 1) != (b->clones > 1))
				continue;
			if (a->writes || b->writes || a->trims || b->trims)
				a->shared = b->shared = true;
		}
}

static void number_places(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		struct stb_fio_job *j = &x->jobs[i];

		for (j->place = 0; j->place < x->n_places; j->place++)
			if (!strcmp(x->places[j->place].dir, j->dir))
				break;
		if (j->place < x->n_places)
			continue;
		STB_ARENA_GROW(&x->im->c->arena, x->places, x->n_places, x->cap_places);
		x->places[x->n_places++] = (struct stb_fio_place){ j->dir, NULL, j->raw };
	}
}

void stb_fio_find_places(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_jobs; i++)
		find_place(x, &x->jobs[i]);
	find_shared(x);
	number_places(x);
}

static void put_device(struct stb_fio_import *x, const struct stb_fio_place *p)
{
	static const char by_id[] = "/dev/disk/by-id/";
	static const char why[] = "a device is named by its serial number or its name under /dev/disk/by-id, never by what it is called today";
	const struct stb_fio_job *j = x->jobs;
	struct stb_fio_option *o;

	while (strcmp(j->dir, p->dir))
		j++;
	o = j->sym[STB_FIO_FILENAME];
	stb_import_open(x->im, "storage device %s", p->name);
	if (!strncmp(p->dir, by_id, strlen(by_id))) {
		stb_import_text(x->im, "by_id", p->dir + strlen(by_id));
		stb_import_comment(x->im, "writing to it needs consent: erase = \"%s\"", p->dir + strlen(by_id));
	} else {
		if (o)
			stb_fio_refuse(x, o, "%s", why);
		else /* a section called like a device works on it */
			stb_import_refuse(x->im, j->section->span, stb_import_quote(x->im, j->section->name, strlen(j->section->name)), "%s", why);
		stb_import_comment(x->im, "say which one it is: serial = \"...\" or by_id = \"...\"; writing to it needs erase = \"...\" besides");
	}
	stb_import_close(x->im);
	stb_import_open(x->im, "volume %s", p->name);
	stb_import_attr(x->im, "storage", "%s", p->name);
	stb_import_attr(x->im, "filesystem", "none");
	stb_import_close(x->im);
}

static bool is_working_directory(const struct stb_fio_import *x, const struct stb_fio_place *p)
{
	for (uint32_t i = 0; i < x->n_jobs; i++) {
		const struct stb_fio_job *j = &x->jobs[i];
		const struct stb_fio_option *f = j->sym[STB_FIO_FILENAME];

		if (!strcmp(j->dir, p->dir) && !j->sym[STB_FIO_DIRECTORY] && !(f && f->value && *f->value == '/'))
			return true;
	}
	return false;
}

void stb_fio_put_places(struct stb_fio_import *x)
{
	for (uint32_t i = 0; i < x->n_places; i++) {
		struct stb_fio_place *p = &x->places[i];
		const char *slash = strrchr(p->dir, '/');
		const bool here = !p->raw && is_working_directory(x, p);

		p->name = stb_import_name(x->im, here ? "here" : slash && slash[1] ? slash + 1 : "disk");
		if (p->raw) {
			put_device(x, p);
			continue;
		}
		if (here)
			stb_diag(&x->im->c->sink, STB_W0802, STB_NO_SPAN,
				"no directory is named, so fio would work where it is started; the spec takes the directory of this import: `%s`",
				stb_import_quote(x->im, p->dir, strlen(p->dir)));
		stb_import_open(x->im, "storage directory %s", p->name);
		stb_import_comment(x->im, "stb works in a new subdirectory of its own and removes it after the run");
		stb_import_text(x->im, "path", p->dir);
		stb_import_close(x->im);
		stb_import_open(x->im, "volume %s", p->name);
		stb_import_attr(x->im, "storage", "%s", p->name);
		stb_import_close(x->im);
	}
}
