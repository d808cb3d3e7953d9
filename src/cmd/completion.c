/* SPDX-License-Identifier: MIT */
/*
 * Completions for three shells out of the table of commands; called by
 * reference.c for the build.
 */
#include "config.h"

#include "cmd/completion.h"

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

/* Options whose values are words. */
static const struct {
	const char *option, *words;
} values[] = {
	{ "color", "auto always never" },
	{ "charset", "braille block ascii" },
	{ "group-by", "dirname file source pod" },
};

/* The words that the option's value can be; NULL: a file or anything. */
static const char *
values_of(const struct cmd_option *option)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(values[i].option, option->name) == 0)
			return values[i].words;
	return NULL;
}

/* Behind an option whose value is a word only these are offered. */
static void
put_bash_values(void)
{
	(void)puts("\tlocal last=${COMP_WORDS[COMP_CWORD - 1]}\n"
		   "\t[[ $cur == = ]] && cur=\n"
		   "\t[[ $last == = ]] && last=${COMP_WORDS[COMP_CWORD - 2]}\n"
		   "\tcase $last in");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		(void)printf("\t--%s) words='%s' first= subs= ;;\n",
			     values[i].option, values[i].words);
	(void)puts("\tesac");
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
	(void)puts("\tesac");
	put_bash_values();
	(void)puts("\tif [[ -n $subs && -z $second ]]; then words=$subs\n"
		   "\telif [[ -n $first && $cur != -* ]]; then return; fi\n"
		   "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
		   "\"$cur\")\n"
		   "}\n"
		   "complete -o default -F _hgym_tui hgym-tui");
}

/* Text for between single quotes; \ before the bytes of `special`. */
static void
put_escaped(const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (strchr(special, *text) != NULL)
			(void)putchar('\\');
		if (*text == '\'')
			(void)fputs("'\\''", stdout);
		else
			(void)putchar(*text);
	}
}

static void
put_quoted(const char *text, const char *special)
{
	(void)putchar('\'');
	put_escaped(text, special);
	(void)putchar('\'');
}

/* zsh: --name'[help]':ARG:_files; brackets and colons are its own. */
static void
put_zsh_option(const struct cmd_option *option)
{
	const char *words = values_of(option);

	(void)printf(" \\\n\t\t--%s%s'[", option->name,
		     option->arg != NULL ? "=" : "");
	put_escaped(option->help, "[]:\\");
	(void)fputs("]'", stdout);
	if (option->arg != NULL && words != NULL)
		(void)printf(":%s:'(%s)'", option->arg, words);
	else if (option->arg != NULL)
		(void)printf(":%s:_files", option->arg);
	if (option->short_name != 0 && option->arg == NULL) {
		(void)printf(" \\\n\t\t-%c'[", option->short_name);
		put_escaped(option->help, "[]:\\");
		(void)fputs("]'", stdout);
	}
}

static void
put_zsh_options(const struct cmd *cmd)
{
	for (const struct cmd_option *o = cmd->options;
	     o != NULL && o->name != NULL; o++)
		put_zsh_option(o);
}

/* 'name:what it does' of each command, or of those below a first word. */
static void
put_zsh_commands(const char *first, size_t len)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];
		size_t own = first_word(cmd);
		bool is_below = first != NULL && own == len &&
				memcmp(cmd->name, first, len) == 0 &&
				cmd->name[len] == ' ';

		if (is_below)
			(void)printf(" %s:", cmd->name + len + 1);
		else if (first == NULL && !is_repeated(i))
			(void)printf(" %.*s:", (int)own, cmd->name);
		else
			continue;
		if (is_below || cmd->name[own] == '\0')
			put_quoted(cmd->summary, ":");
	}
}

/* A case a first word that has sub-commands: these with their summaries. */
static void
put_zsh_second(void)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		size_t len = first_word(cmd_table[i]);
		bool has = false;

		for (size_t k = i; cmd_table[k] != NULL && !has; k++)
			has = strncmp(cmd_table[k]->name, name, len) == 0 &&
			      cmd_table[k]->name[len] == ' ';
		if (is_repeated(i) || !has)
			continue;
		(void)printf("\t%.*s) subs=(", (int)len, name);
		put_zsh_commands(name, len);
		(void)puts(" ) ;;");
	}
}

void
completion_print_zsh(const struct cmd *program)
{
	(void)puts("#compdef hgym-tui\n# zsh completion for hgym-tui; made by "
		   "the build\n"
		   "_hgym_tui_command()\n{\n"
		   "\tlocal -a commands subs\n"
		   "\tif ((CURRENT == 1)); then");
	(void)printf("\t\tcommands=(");
	put_zsh_commands(NULL, 0);
	(void)puts(" )\n\t\t_describe -t commands command commands\n"
		   "\t\t_files\n\t\treturn\n\tfi\n"
		   "\tcase $words[1] in");
	put_zsh_second();
	(void)puts("\tesac\n\tif (($#subs && CURRENT == 2)); then\n"
		   "\t\t_describe -t commands command subs\n\t\treturn\n\tfi\n"
		   "\tif (($#subs)); then\n"
		   "\t\twords[2]=\"$words[1] $words[2]\"\n"
		   "\t\tshift words\n\t\t((CURRENT--))\n\tfi\n"
		   "\tcase $words[1] in");
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		(void)printf("\t'%s') _arguments '*:file:_files'"
			     " \\\n\t\t--help'[show what it does]'",
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
		const char *words = values_of(o);

		(void)printf("complete -c hgym-tui -n \"%s\"", condition);
		if (o->short_name != 0)
			(void)printf(" -s %c", o->short_name);
		(void)printf(" -l %s%s", o->name, o->arg != NULL ? " -r" : "");
		if (words != NULL)
			(void)printf(" -f -a '%s'", words);
		(void)fputs(" -d ", stdout);
		put_quoted(o->help, "\\");
		(void)putchar('\n');
	}
}

/* A command, offered where the words before it are these. */
static void
put_fish_command(const char *before, const struct cmd *cmd, const char *name)
{
	size_t len = strcspn(name, " ");

	(void)printf("complete -c hgym-tui -n \"__hgym_tui_only%s\"%s -a %.*s",
		     before, before[0] != '\0' ? " -f" : "", (int)len, name);
	if (name[len] == '\0') {
		(void)fputs(" -d ", stdout);
		put_quoted(cmd->summary, "\\");
	}
	(void)putchar('\n');
}

void
completion_print_fish(const struct cmd *program)
{
	(void)puts("# fish completion for hgym-tui; made by the build\n"
		   "# The words so far that are no options.\n"
		   "function __hgym_tui_words\n"
		   "\tset -l skip no\n"
		   "\tfor word in (commandline -opc)[2..-1]\n"
		   "\t\tif test $skip = yes\n\t\t\tset skip no\n"
		   "\t\t\tcontinue\n\t\tend\n"
		   "\t\tswitch $word\n"
		   "\t\t\tcase --config --db --color --charset\n"
		   "\t\t\t\tset skip yes\n"
		   "\t\t\tcase '-*'\n"
		   "\t\t\tcase '*'\n\t\t\t\techo $word\n"
		   "\t\tend\n\tend\nend\n"
		   "function __hgym_tui_only\n"
		   "\tset -l words (__hgym_tui_words)\n"
		   "\ttest \"$argv\" = \"$words\"\nend\n"
		   "function __hgym_tui_in\n"
		   "\tset -l words (__hgym_tui_words)\n"
		   "\tstring match -q -- \"$argv *\" \"$words \"\nend");
	put_fish_options(program, "__hgym_tui_only");
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const struct cmd *cmd = cmd_table[i];
		size_t len = first_word(cmd);
		char condition[256];

		if (!is_repeated(i))
			put_fish_command("", cmd, cmd->name);
		if (cmd->name[len] == ' ') {
			(void)snprintf(condition, sizeof(condition), " %.*s",
				       (int)len, cmd->name);
			put_fish_command(condition, cmd, cmd->name + len + 1);
		}
		(void)snprintf(condition, sizeof(condition), "__hgym_tui_in %s",
			       cmd->name);
		put_fish_options(cmd, condition);
		(void)printf("complete -c hgym-tui -n \"%s\" -l help "
			     "-d 'show what it does'\n",
			     condition);
	}
}
