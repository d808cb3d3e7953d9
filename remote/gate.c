/* SPDX-License-Identifier: MIT */
/* Caps on handshakes at once; one for a fleet. */
#include "config.h"

#include "remote/gate.h"

#include <assert.h>
#include <stdio.h>
#include <strings.h>

void
gate_init(struct gate *gate, struct loop *loop)
{
	gate->loop = loop;
	list_init(&gate->inside);
	list_init(&gate->waiting);
}

static bool
has_room_for(const struct gate *gate, const char *host)
{
	unsigned int in_all = 0, same = 0;

	list_each (const struct gate_ticket, t, &gate->inside, link) {
		in_all++;
		same += strcasecmp(t->host, host) == 0;
	}
	return in_all < GATE_IN_ALL && same < GATE_PER_HOST;
}

static void
on_admitted(void *user)
{
	struct gate_ticket *ticket = user;

	ticket->on_admit(ticket->user);
}

/* Let in all that have room, the first that came first. */
static void
admit(struct gate *gate)
{
	list_each_safe (struct gate_ticket, t, &gate->waiting, link) {
		if (!has_room_for(gate, t->host))
			continue;
		list_remove(&t->link);
		list_append(&gate->inside, &t->link);
		loop_post(gate->loop, on_admitted, t);
	}
}

void
gate_enter(struct gate *gate, struct gate_ticket *ticket, const char *host,
	   void (*on_admit)(void *user), void *user)
{
	assert(ticket->gate == NULL);
	ticket->gate = gate;
	ticket->on_admit = on_admit;
	ticket->user = user;
	snprintf(ticket->host, sizeof(ticket->host), "%s", host);
	list_append(&gate->waiting, &ticket->link);
	admit(gate);
}

void
gate_leave(struct gate_ticket *ticket)
{
	struct gate *gate = ticket->gate;

	if (gate == NULL)
		return;
	loop_unpost(gate->loop, on_admitted, ticket);
	list_remove(&ticket->link);
	ticket->gate = NULL;
	admit(gate);
}
