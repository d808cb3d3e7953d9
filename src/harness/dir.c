/* SPDX-License-Identifier: MIT */
/* Look at a local directory without reading its runs. */
#include "harness/dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

bool harness_dir_is(const char *path, bool later)
{
	/* The last two can exist before the first run starts. */
	static const char *const names[] = {
		".harnessgym/runs",
		"compare_report.json",
		"plain/trial_1",
		"harnessed/trial_1",
		"run_config.json",
		"iterations/1",
		"results.tsv",
		"eval_results.json",
		"best/best_program_info.json",
		".harnessgym",
		"task.md",
	};
	size_t n = sizeof(names) / sizeof(names[0]) - (later ? 0 : 2);
	bool found = strcmp(file_name(path), ".harnessgym") == 0;
	struct stat st;

	/* Most paths are logs. */
	if (!found && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
		return false;
	for (size_t i = 0; i < n && !found; i++) {
		AUTO_TEXT full = xasprintf("%s/%s", path, names[i]);

		found = access(full, F_OK) == 0;
	}
	return found;
}
