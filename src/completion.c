/* SPDX-License-Identifier: MIT */
/*
 * Completions for three shells out of the table of commands; called by
 * reference.c for the build.
 */
#include "config.h"

#include "completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The first word of a command's name. */
static size_t
first_word(const struct cmd *cmd)
{
	return strcspn(cmd->name, " ");
}

/* Has an earlier command the same first word? */
static bool
is_repeated(size_t i)
{
	size_t len = first_word(cmd_table[i]);

	for (size_t k = 0; k < i; k++)
		if (first_word(cmd_table[k]) == len &&
		    memcmp(cmd_table[k]->name, cmd_table[i]->name, len) == 0)
			return true;
	return false;
}

/* "--json --csv ..", a blank before each; those with a value end with =. */
static void
put_option_words(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options;
	     o != NULL && o->name != NULL; o++)
		(void)printf(" --%s", o->name);
}

/* Words that may stand at the place of the command. */
static void
put_command_words(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		if (!is_repeated(i))
			(void)printf(" %.*s", (int)first_word(cmd_table[i]),
				     cmd_table[i]->name);
}

/* A case a first word that has sub-commands: the second words. */
static void
put_second_words(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		size_t len = first_word(cmd_table[i]);
		size_t n = 0;

		if (is_repeated(i))
			continue;
		for (size_t k = i; cmd_table[k] != NULL; k++) {
			const char *name = cmd_table[k]->name;

			if (strncmp(name, cmd_table[i]->name, len) != 0 ||
			    name[len] != ' ')
				continue;
			if (n++ == 0)
				(void)printf("\t%.*s) subs=\"", (int)len, name);
			(void)printf("%s%s", n > 1 ? " " : "", name + len + 1);
		}
		if (n > 0)
			(void)puts("\" ;;");
	}
}

void
completion_print_bash(const struct cmd *program)
{
	(void)puts("# bash completion for hgym-tui; made by the build\n"
		   "_hgym_tui()\n{\n"
		   "\tlocal cur=${COMP_WORDS[COMP_CWORD]} subs= words=\n"
		   "\tlocal first= second= i\n"
		   "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		   "\t\tcase ${COMP_WORDS[i]} in\n"
		   "\t\t--config|--db|--color|--charset) ((i++)) ;;\n"
		   "\t\t-*) ;;\n"
		   "\t\t*) if [[ -z $first ]]; then first=${COMP_WORDS[i]}\n"
		   "\t\t   elif [[ -z $second ]]; then "
		   "second=${COMP_WORDS[i]}; fi ;;\n"
		   "\t\tesac\n\tdone\n\tcase $first in");
	put_second_words();
	(void)printf("\tesac\n\tcase \"$first${subs:+ $second}\" in\n"
		     "\t'') words=\"");
	put_command_words();
	put_option_words(program);
	(void)puts("\" ;;");
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		(void)printf("\t'%s') words=\"", cmd_table[i]->name);
		put_option_words(cmd_table[i]);
		(void)puts(" --help\" ;;");
	}
	(void)puts("\tesac\n"
		   "\tif [[ -n $subs && -z $second ]]; then words=$subs\n"
		   "\telif [[ -n $first && $cur != -* ]]; then return; fi\n"
		   "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
		   "\"$cur\")\n"
		   "}\n"
		   "complete -o default -F _hgym_tui hgym-tui");
}

/* Text between single quotes of a shell. */
static void
put_quoted(const char *text)
{
	(void)putchar('\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", stdout);
		else
			(void)putchar(*text);
	}
	(void)putchar('\'');
}

/* zsh: '--name[help]:ARG:_files'; brackets and colons are its own. */
static void
put_zsh_option(const struct cmd_option *option)
{
	(void)printf(" \\\n\t\t'--%s%s[", option->name,
		     option->arg != NULL ? "=" : "");
	for (const char *p = option->help; *p != '\0'; p++) {
		if (*p == '[' || *p == ']' || *p == ':' || *p == '\\')
			(void)putchar('\\');
		if (*p == '\'')
			(void)fputs("'\\'", stdout);
		(void)putchar(*p);
	}
	(void)printf("]%s%s%s'", option->arg != NULL ? ":" : "",
		     option->arg != NULL ? option->arg : "",
		     option->arg != NULL ? ":_files" : "");
}

static void
put_zsh_options(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options;
	     o != NULL && o->name != NULL; o++)
		put_zsh_option(o);
}

void
completion_print_zsh(const struct cmd *program)
{
	(void)puts("#compdef hgym-tui\n# zsh completion for hgym-tui; made by "
		   "the build\n"
		   "_hgym_tui_command()\n{\n"
		   "\tlocal -a commands\n\tlocal subs=\n"
		   "\tif ((CURRENT == 1)); then");
	(void)printf("\t\tcommands=(");
	put_command_words();
	(void)puts(" )\n\t\tcompadd -a commands\n\t\t_files\n\t\treturn\n\tfi\n"
		   "\tcase $words[1] in");
	put_second_words();
	(void)puts("\tesac\n\tif [[ -n $subs ]] && ((CURRENT == 2)); then\n"
		   "\t\tcompadd ${=subs}\n\t\treturn\n\tfi\n"
		   "\tcase \"$words[1]${subs:+ $words[2]}\" in");
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		(void)printf("\t'%s') _arguments '*:file:_files'",
			     cmd_table[i]->name);
		put_zsh_options(cmd_table[i]);
		(void)puts(" ;;");
	}
	(void)printf("\tesac\n}\n_arguments '*::command:_hgym_tui_command'");
	put_zsh_options(program);
	(void)putchar('\n');
}

static void
put_fish_options(const struct cmd *cmd, const char *condition)
{
	for (const struct cmd_option *o = cmd->options;
	     o != NULL && o->name != NULL; o++) {
		(void)printf("complete -c hgym-tui -n \"%s\"", condition);
		if (o->short_name != 0)
			(void)printf(" -s %c", o->short_name);
		(void)printf(" -l %s%s -d ", o->name,
			     o->arg != NULL ? " -r" : "");
		put_quoted(o->help);
		(void)putchar('\n');
	}
}

void
completion_print_fish(const struct cmd *program)
{
	(void)puts("# fish completion for hgym-tui; made by the build");
	put_fish_options(program, "__fish_use_subcommand");
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];
		size_t len = first_word(cmd);
		char condition[256];

		if (!is_repeated(i))
			(void)printf("complete -c hgym-tui -n "
				     "__fish_use_subcommand -a %.*s\n",
				     (int)len, cmd->name);
		(void)snprintf(condition, sizeof(condition),
			       "__fish_seen_subcommand_from %.*s", (int)len,
			       cmd->name);
		if (cmd->name[len] == ' ') {
			(void)printf("complete -c hgym-tui -n \"%s\" -a %s -d ",
				     condition, cmd->name + len + 1);
			put_quoted(cmd->summary);
			(void)putchar('\n');
			(void)snprintf(condition, sizeof(condition),
				       "__fish_seen_subcommand_from %.*s; and "
				       "__fish_seen_subcommand_from %s",
				       (int)len, cmd->name,
				       cmd->name + len + 1);
		}
		put_fish_options(cmd, condition);
	}
}
