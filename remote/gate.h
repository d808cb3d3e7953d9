/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_GATE_H
#define HGYM_REMOTE_GATE_H

#include "base/list.h"
#include "loop/loop.h"

/*
 * Who may shake hands now: at most GATE_PER_HOST at once with a host (the
 * default MaxStartups of sshd drops logins beyond ten), GATE_IN_ALL in all.
 */
#define GATE_PER_HOST 3
#define GATE_IN_ALL   12

struct gate {
	struct loop *loop;
	struct list inside; /* struct gate_ticket */
	struct list waiting;
};

/* Held by the one who asks; zeroed before the first use. */
struct gate_ticket {
	struct list link;
	struct gate *gate; /* NULL: neither inside nor waiting */
	char host[256];
	void (*on_admit)(void *user);
	void *user;
};

void gate_init(struct gate *gate, struct loop *loop);
/* Ask; on_admit is called from the loop, now or later. */
void gate_enter(struct gate *gate, struct gate_ticket *ticket, const char *host,
		void (*on_admit)(void *user), void *user);
/* Leave, or stop waiting; nothing when neither. */
void gate_leave(struct gate_ticket *ticket);

#endif
