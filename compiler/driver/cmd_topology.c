/* cmd_topology.c - `stb topology`: the nodes and processors of this machine or of a saved one, as a table or as a file. */
#include "compiler/driver/driver.h"
#include "runtime/exec/outfile.h"
#include "runtime/host/sysfs.h"

int stb_cmd_topology(const struct stb_args *a)
{
	struct stb_topology *t;
	struct stb_buf text;
	struct stb_err err;
	int code = STB_EXIT_OK;

	stb_err_clear(&err);
	stb_buf_init(&text);
	t = a->topology ? stb_topology_load(a->topology, &err) : stb_host_topology("", &err);
	if (!t)
		goto refuse;
	if (a->save) {
		stb_topology_save(t, &text);
		if (stb_outfile_write(a->save, stb_buf_str(&text), text.len, &err))
			goto refuse;
	} else {
		stb_topology_print(t, &text);
		fwrite(stb_buf_str(&text), 1, text.len, stdout);
	}
	goto out;
refuse:
	stb_exec_print_error(NULL, &err, stderr);
	code = STB_EXIT_ENVIRONMENT;
out:
	stb_topology_free(t);
	stb_buf_fini(&text);
	return code;
}
