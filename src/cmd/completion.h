/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_COMPLETION_H
#define HGYM_CMD_COMPLETION_H

#include "cmd/cmd.h"

/* Print a completion script; program holds the global options. */
void completion_print_bash(const struct cmd *program);
void completion_print_zsh(const struct cmd *program);
void completion_print_fish(const struct cmd *program);

#endif
