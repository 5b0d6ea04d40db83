/*
 * hist_of_log.c - latencies that fio logged, one a line, through stb's histogram: for each percentile that is named with fio's own figure,
 * in which buckets the two lie.
 *
 *   hist_of_log LOG PERCENTILE=NS... prints "PERCENTILE OUR-BUCKET FIO-BUCKET OUR-NS FIO-NS"
 */
#include "runtime/base/hist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct stb_hist *h = malloc(sizeof(*h));
	FILE *log = argc > 1 ? fopen(argv[1], "r") : NULL;
	char line[256];

	if (!h || !log)
		return 2;
	stb_hist_init(h);
	while (fgets(line, sizeof(line), log)) {
		uint64_t at, ns;

		if (sscanf(line, "%" SCNu64 ", %" SCNu64 ",", &at, &ns) != 2)
			return 3;
		stb_hist_add(h, ns);
	}
	fclose(log);
	printf("count %" PRIu64 "\n", h->count);
	for (int i = 2; i < argc; i++) {
		double percentile, ns;
		uint64_t ours;

		if (sscanf(argv[i], "%lf=%lf", &percentile, &ns) != 2)
			return 2;
		ours = stb_hist_percentile(h, (uint64_t)(percentile * 10000 + 0.5), 1000000);
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu64 " %.0f\n", argv[i], stb_hist_index(ours), stb_hist_index((uint64_t)ns), ours, ns);
	}
	free(h);
	return 0;
}
