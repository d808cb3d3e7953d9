/* SPDX-License-Identifier: MIT */
#pragma once

/* State of a connection to a pod, or of the follower that runs there. */
enum link_state {
	LINK_IDLE, /* not requested yet */
	LINK_CONNECTING,
	LINK_LIVE,
	LINK_WAITING, /* failed or lost; retries after a delay */
	LINK_REFUSED, /* by our host key check, by the server, or because of a wrong setting */
	LINK_GONE,    /* closed by this program */
};
