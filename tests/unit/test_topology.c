/*
 * test_topology.c - topologies from files that may be wrong, and from invented /proc and /sys trees.
 *
 * The trees are made of the saved topologies: what is read from them and saved again must be the file, byte for byte.
 */
#include "runtime/host/sysfs.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_NAME "tests/golden/topology"

static char root[] = "/tmp/stb-topology-XXXXXX";

static void make_root(void)
{
	cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	cr_assert_eq(system(cmd), 0);
}

TestSuite(topology, .init = make_root, .fini = remove_root);

/* A file of the tree, with the directories that it needs. */
static void put(const char *path, const char *text)
{
	char full[400];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	cr_assert(f, "%s", full);
	fputs(text, f);
	fclose(f);
}

static void put_list(const char *path, const struct stb_cpuset *s)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_cpulist_print(s, &b);
	stb_buf_addc(&b, '\n');
	put(path, stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void put_cpu(const struct stb_topology *t, const struct stb_cpu *c)
{
	struct stb_cpuset siblings = { 0 };
	char path[200], text[40];

	for (uint32_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i].core == c->core)
			stb_cpuset_add(&siblings, t->cpus[i].id);
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", c->id);
	put_list(path, &siblings);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", c->id);
	snprintf(text, sizeof(text), "%u\n", c->package);
	put(path, text);
}

static void put_node(const struct stb_topology *t, uint32_t i)
{
	const struct stb_numa_node *n = &t->nodes[i];
	struct stb_cpuset cpus = { 0 };
	struct stb_buf b;
	char path[200], text[200];

	for (uint32_t k = 0; k < t->n_cpus; k++) {
		if (t->cpus[k].node == n->id)
			stb_cpuset_add(&cpus, t->cpus[k].id);
	}
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", n->id);
	put_list(path, &cpus);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", n->id);
	snprintf(text, sizeof(text), "\nNode %u MemTotal:       %llu kB\nNode %u MemFree:  1 kB\n", n->id,
		(unsigned long long)n->memory_bytes / 1024, n->id);
	put(path, text);
	stb_buf_init(&b);
	for (uint32_t k = 0; k < t->n_nodes; k++)
		stb_buf_printf(&b, "%s%u", k ? " " : "", t->distances[i * t->n_nodes + k]);
	stb_buf_addc(&b, '\n');
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/distance", n->id);
	put(path, stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void put_status(const struct stb_cpuset *cpus, const struct stb_cpuset *nodes)
{
	struct stb_buf b;

	stb_buf_init(&b);
	stb_buf_adds(&b, "Name:\tstb\nCpus_allowed:\tffffffff\nCpus_allowed_list:\t");
	stb_cpulist_print(cpus, &b);
	stb_buf_adds(&b, "\nMems_allowed:\t00000000,00000003\nMems_allowed_list:\t");
	stb_cpulist_print(nodes, &b);
	stb_buf_adds(&b, "\nvoluntary_ctxt_switches:\t1\n");
	put("/proc/self/status", stb_buf_str(&b));
	stb_buf_fini(&b);
}

static void put_tree(const struct stb_topology *t)
{
	struct stb_cpuset online = { 0 }, nodes = { 0 }, cpus_allowed = { 0 }, nodes_allowed = { 0 };

	for (uint32_t i = 0; i < t->n_cpus; i++) {
		stb_cpuset_add(&online, t->cpus[i].id);
		if (t->cpus[i].allowed)
			stb_cpuset_add(&cpus_allowed, t->cpus[i].id);
		put_cpu(t, &t->cpus[i]);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		stb_cpuset_add(&nodes, t->nodes[i].id);
		if (t->nodes[i].allowed)
			stb_cpuset_add(&nodes_allowed, t->nodes[i].id);
		put_node(t, i);
	}
	put_list("/sys/devices/system/cpu/online", &online);
	put_list("/sys/devices/system/node/online", &nodes);
	put_status(&cpus_allowed, &nodes_allowed);
}

static char *read_whole(const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = fopen(path, "r"), *out = open_memstream(&text, &len);
	int c;

	cr_assert(f, "%s", path);
	while ((c = fgetc(f)) != EOF)
		fputc(c, out);
	fclose(f);
	fclose(out);
	return text;
}

static void there_and_back(const char *path)
{
	struct stb_err err = { 0 };
	struct stb_topology *t = stb_topology_load(path, &err), *host;
	char *text = read_whole(path);
	struct stb_buf b;

	cr_assert(t, "%s", err.what);
	stb_buf_init(&b);
	stb_topology_save(t, &b);
	cr_expect_str_eq(stb_buf_str(&b), text, "%s is not as it is saved", path);
	put_tree(t);
	host = stb_host_topology(root, &err);
	cr_assert(host, "%s: %s", path, err.what);
	stb_buf_clear(&b);
	stb_topology_save(host, &b);
	cr_expect_str_eq(stb_buf_str(&b), text, "%s is not as it is read from its tree", path);
	stb_buf_fini(&b);
	stb_topology_free(t);
	stb_topology_free(host);
	free(text);
}

Test(topology, saved_read_and_saved_again)
{
	DIR *d = opendir(DIR_NAME);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		char path[400];

		if (!strstr(e->d_name, ".json"))
			continue;
		snprintf(path, sizeof(path), DIR_NAME "/%s", e->d_name);
		there_and_back(path);
		remove_root();
		cr_assert_eq(mkdir(root, 0700), 0);
		n++;
	}
	if (d)
		closedir(d);
	cr_expect_geq(n, 5);
}

/* --- the tree that is not as it should be ------------------------------------------------------------------------------------------------ */

static void put_two(void)
{
	put("/sys/devices/system/cpu/online", "0-3\n");
	put("/sys/devices/system/node/online", "0-1\n");
	put("/sys/devices/system/node/node0/cpulist", "0-1\n");
	put("/sys/devices/system/node/node1/cpulist", "2-3\n");
	put("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1024 kB\n");
	put("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 2048 kB\n");
}

static char *saved(void)
{
	struct stb_err err = { 0 };
	struct stb_topology *t = stb_host_topology(root, &err);
	struct stb_buf b;

	stb_buf_init(&b);
	if (t)
		stb_topology_save(t, &b);
	else
		stb_buf_adds(&b, err.what + strlen("cannot read the topology of this machine: `") + strlen(root));
	stb_topology_free(t);
	return stb_buf_take(&b);
}

static void expect_saved(const char *expected)
{
	char *found = saved();

	cr_expect_str_eq(found, expected);
	free(found);
}

Test(topology, a_kernel_without_numa_is_one_node)
{
	put("/sys/devices/system/cpu/online", "0,2-3\n");
	put("/proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n");
	expect_saved("{\n  \"stb_topology\": 1,\n  \"allowed_cpus\": \"0,2-3\",\n  \"allowed_nodes\": \"0\",\n  \"nodes\": [\n"
		"    {\"id\": 0, \"cpus\": \"0,2-3\", \"memory_bytes\": 2097152}\n  ],\n  \"packages\": [],\n  \"siblings\": []\n}\n");
}

Test(topology, unknown_packages_and_distances_are_left_out)
{
	put_two();
	put("/sys/devices/system/node/node0/distance", "10 21\n");
	put("/sys/devices/system/node/node1/distance", "21\n");
	put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1\n");
	put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "\n");
	put("/proc/self/status", "Name:\tstb\nCpus_allowed_list:\t1-65535\nMems_allowed_list:\t1-1023\n");
	expect_saved("{\n  \"stb_topology\": 1,\n  \"allowed_cpus\": \"1-3\",\n  \"allowed_nodes\": \"1\",\n  \"nodes\": [\n"
		"    {\"id\": 0, \"cpus\": \"0-1\", \"memory_bytes\": 1048576},\n"
		"    {\"id\": 1, \"cpus\": \"2-3\", \"memory_bytes\": 2097152}\n  ],\n  \"packages\": [],\n  \"siblings\": []\n}\n");
}

Test(topology, offline_cpus_are_not_there)
{
	put_two();
	put("/sys/devices/system/cpu/online", "0,2\n");
	put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
	expect_saved("{\n  \"stb_topology\": 1,\n  \"allowed_cpus\": \"0,2\",\n  \"allowed_nodes\": \"0-1\",\n  \"nodes\": [\n"
		"    {\"id\": 0, \"cpus\": \"0\", \"memory_bytes\": 1048576},\n"
		"    {\"id\": 1, \"cpus\": \"2\", \"memory_bytes\": 2097152}\n  ],\n  \"packages\": [],\n  \"siblings\": []\n}\n");
}

Test(topology, what_does_not_fit_is_refused)
{
	expect_saved("/sys/devices/system/cpu/online` is missing or no list of CPUs");
	put("/sys/devices/system/cpu/online", "0-99999\n");
	expect_saved("/sys/devices/system/cpu/online` is missing or no list of CPUs");
	put("/sys/devices/system/cpu/online", "0-3\n");
	expect_saved("/proc/meminfo` does not tell MemTotal");
	put_two();
	put("/sys/devices/system/node/node1/cpulist", "1-3\n");
	expect_saved("/sys/devices/system/node/node1/cpulist` names a CPU that another node names too");
	put("/sys/devices/system/node/node1/cpulist", "2\n");
	expect_saved("/sys/devices/system/node/online` and the nodes below it leave out a CPU that is online");
	put_two();
	put("/sys/devices/system/node/node1/meminfo", "\n");
	expect_saved("/sys/devices/system/node/node1/meminfo` does not tell MemTotal");
	put_two();
	put("/proc/self/status", "Name:\tstb\nCpus_allowed_list:\t7\nMems_allowed_list:\t0\n");
	expect_saved("/proc/self/status` allows no CPU that is online");
	put("/proc/self/status", "Name:\tstb\nCpus_allowed_list:\t0\nMems_allowed_list:\t7\n");
	expect_saved("/proc/self/status` allows memory of no node that is there");
}

Test(topology, this_machine)
{
	struct stb_err err = { 0 };
	struct stb_topology *t = stb_host_topology("", &err);

	cr_assert(t, "%s", err.what);
	cr_expect_geq(t->n_cpus, 1);
	stb_topology_free(t);
}

/* --- files ------------------------------------------------------------------------------------------------------------------------------ */

static void expect_refused(const char *text, const char *why)
{
	struct stb_err err = { 0 };
	struct stb_topology *t = stb_topology_parse("t", text, strlen(text), &err);

	cr_expect_null(t, "%s", text);
	cr_expect_str_eq(err.what, why, "%s\n  said: %s\n  expected: %s", text, err.what, why);
	cr_expect(*err.remedy);
	stb_topology_free(t);
}

/* A file of one line: what stands between the version and the end. */
#define FILE_OF(rest) "{\"stb_topology\": 1, " rest "}"
#define NODE0 "{\"id\": 0, \"cpus\": \"0-3\", \"memory_bytes\": 1}"
#define REFUSED "cannot use topology `t`: "

Test(topology, a_short_file_is_enough)
{
	struct stb_err err = { 0 };
	static const char text[] = FILE_OF("\"nodes\": [" NODE0 "]");
	struct stb_topology *t = stb_topology_parse("t", text, strlen(text), &err);

	cr_assert(t, "%s", err.what);
	cr_expect_eq(t->n_cpus, 4);
	cr_expect(t->cpus[3].allowed && t->nodes[0].allowed);
	cr_expect_eq(t->cpus[3].package, STB_CPU_NONE);
	cr_expect_eq(t->cpus[3].core, 3);
	cr_expect_null(t->distances);
	cr_expect_null(stb_topology_cpu(t, 4));
	cr_expect_null(stb_topology_node(t, 1));
	stb_topology_free(t);
}

Test(topology, a_wrong_file_is_refused)
{
	expect_refused("", REFUSED "line 1, column 0: '[' or '{' expected near end of file");
	expect_refused("[]", REFUSED "not an object");
	expect_refused("{}", REFUSED "`stb_topology` is missing: it is something else");
	expect_refused("{\"stb_topology\": 2}", REFUSED "its form is not version 1, the one that is known");
	expect_refused("{\"stb_topology\": 1, \"stb_topology\": 1}", REFUSED "line 1, column 34: duplicate object key near '\"stb_topology\"'");
	expect_refused("{\"stb_topology\": 1}", REFUSED "`nodes` is not a list of 1 to 1024 nodes");
	expect_refused(FILE_OF("\"nodes\": {}"), REFUSED "`nodes` is not a list");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"node\": 1"), REFUSED "`node` is not known to this version");
	expect_refused(FILE_OF("\"nodes\": [1]"), REFUSED "nodes[0]: not an object");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"cpus\": \"0\"}]"), REFUSED "nodes[0]: `memory_bytes` is missing");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 1024, \"memory_bytes\": 1}]"),
		REFUSED "nodes[0]: `id` is not a whole number from 0 to 1023");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"memory_bytes\": 1.5}]"),
		REFUSED "nodes[0]: `memory_bytes` is not a whole number from 0 to 1152921504606846976");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"memory_bytes\": 1}]"), REFUSED "no node has a pCPU");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"cpus\": \"0,x\", \"memory_bytes\": 1}]"),
		REFUSED "nodes[0]: `cpus`, column 3: `x` stands where a number was expected");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"cpus\": 0, \"memory_bytes\": 1}]"),
		REFUSED "nodes[0]: `cpus` is not a list of numbers in a string");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 ", {\"id\": 1, \"cpus\": \"3\", \"memory_bytes\": 1}]"),
		REFUSED "nodes[1]: pCPU 3 stands in two nodes");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 ", " NODE0 "]"), REFUSED "nodes[1]: node 0 stands behind node 0");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"cpus\": \"0\", \"memory_bytes\": 1, \"distances\": [10, 20]}]"),
		REFUSED "nodes[0]: `distances` is not a list of 1 numbers, one a node");
	expect_refused(FILE_OF("\"nodes\": [{\"id\": 0, \"cpus\": \"0\", \"memory_bytes\": 1, \"distances\": [256]}]"),
		REFUSED "nodes[0]: `distances` is not a whole number from 0 to 255");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 ", {\"id\": 1, \"memory_bytes\": 1, \"distances\": [10, 20]}]"),
		REFUSED "nodes[1]: `distances` are stated for some nodes and not for others");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"packages\": [{\"id\": 0, \"cpus\": \"4\"}]"),
		REFUSED "packages[0]: `cpus` names pCPU 4, which is in no node");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"packages\": [{\"id\": 0, \"cpus\": \"0\"}, {\"id\": 0, \"cpus\": \"1\"}]"),
		REFUSED "packages[1]: package 0 is there twice");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"packages\": [{\"id\": 0, \"cpus\": \"0\"}, {\"id\": 1, \"cpus\": \"0\"}]"),
		REFUSED "packages[1]: pCPU 0 stands in two packages");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"siblings\": [\"0-1\", \"1-2\"]"),
		REFUSED "siblings[1]: pCPU 1 stands in two lists of siblings");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"allowed_cpus\": \"3-4\""),
		REFUSED "`allowed_cpus` names pCPU 4, which is in no node");
	expect_refused(FILE_OF("\"nodes\": [" NODE0 "], \"allowed_nodes\": \"1\""), REFUSED "`allowed_nodes` names node 1, which is not there");
}

Test(topology, what_is_no_file_is_refused)
{
	struct stb_err err = { 0 };
	char path[200];

	cr_expect_null(stb_topology_load("/nonexistent/topology", &err));
	cr_expect_eq(err.code, 2);
	cr_expect_null(stb_topology_load(root, &err));
	snprintf(path, sizeof(path), "%s/fifo", root);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_null(stb_topology_load(path, &err)); /* and nothing waits for a writer */
}
