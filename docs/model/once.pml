/* SPDX-License-Identifier: ISC */
/*
 * Oncewrap's protocol for one key (docs/design.md sections 3, 4, 6 and 7): claim, renew, lapse, takeover, settle, join
 * and spool, by two workers that may die anywhere, over a database whose replies may be lost. docs/model/README.md
 * tells what is left out, how to run it and what it takes.
 *
 * Configurations, by -D:
 *   JOINED     the handler completes the key in its own transaction; else it is plain: it acts, then is settled
 *   UNKNOWN    on_lapse = unknown, with on_crash = unknown where the handler is plain; else rerun and release
 *   ONE_HOST   both workers on one host; else a host each
 *   FAULTS=n   at most so many things go wrong
 *   WORDS=n    at most so many words of a person about an unknown outcome
 *   NO_SPOOL   the spool is full from the start
 *   LIVENESS   for the search for keys that are stuck; else for states that must not be
 * Mutations, by -D as well, each a rule of the protocol broken: README.md lists them with what catches them.
 */
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef WORDS
#define WORDS 1
#endif

#define WORKERS 2
#ifdef ONE_HOST
#define HOSTS 1
#define HOST(w) 0
#else
#define HOSTS 2
#define HOST(w) (w)
#endif

#ifdef JOINED
#define IS_JOINED true
#else
#define IS_JOINED false
#endif
#ifdef UNKNOWN
#define IS_UNKNOWN true
#else
#define IS_UNKNOWN false
#endif
/* Only here is a start not to be had back: neither fenced by a transaction nor allowed again by the route. */
#define IS_CAUTIOUS (IS_UNKNOWN && !IS_JOINED)

/* A token also stands for its handler's answer: no two runs answer alike. Tokens are numbers that nothing refers to
 * any more when they are given out again, so that requests may go on for ever. */
#define TOKENS 8
#define NONE 0
#define PERSON (TOKENS + 1) /* token and answer of once-resolve --applied */
#define OURS (TOKENS + 2)   /* the wrapper's own answer for a handler that crashed, the same for every run */

/*
 * The database.
 */
mtype:state = { absent, in_flight, complete, unknown, released };
typedef Record {
	mtype:state state = absent;
	byte token;
	byte owner;   /* the worker; its host is HOST(owner) */
	byte answer;
	bool lapsed;  /* the first lease is over */
	bool counted; /* attempt > 1: a release keeps the row */
};
Record record;

/* once_lease: renewals and closings, by token. */
mtype:lease = { no_row, renewed, over, closed };
mtype:lease lease[TOKENS + 1] = no_row;

bool away;             /* nobody reaches the database */
byte sent[WORKERS];    /* joined: the transaction of this token is on its way to its commit */

/*
 * The hosts.
 */
bool alive[WORKERS] = true;
byte token[WORKERS];   /* what each worker claims with or owns */
byte seen[WORKERS];    /* whose record it has met */

/* The handler of a worker, and its token: a group of processes that may outlive the worker. */
mtype:handler = { no_handler, starting, running, committing, answered, undone, guessed, crashed };
mtype:handler handler[WORKERS] = no_handler;
byte group[WORKERS];

/* The spool: durable. An answer, and a token whose claim was given up in doubt; separate entries, for both may be of
 * one key at one time. */
typedef Spool {
	byte token;
	bool ours;    /* the answer is OURS and not the handler's */
	byte release;
};
Spool spool[HOSTS];

byte faults = FAULTS;
byte words = (IS_UNKNOWN -> WORDS : 0);

/*
 * What is promised. `told` and the like are nobody's knowledge: they are kept to see whether promises hold.
 */
byte told;             /* the answer that a client got for this key, if any did */
byte effects;          /* up to 2 */
bool may_start = true; /* no start yet, or undone by the handler's own word, or a person's */
bool stopped;          /* a host stood still for longer than a lease, while its worker was at a handler */

/* Named as the promises are, since spin tells the assertion that fails. They are true. */
bool one_effect = true, effect_as_stored = true, one_start = true, one_at_a_time = true, one_at_a_time_anywhere = true,
     equal_answers = true, no_lost_answer = true;

#define RUNS(w) (handler[w] == running || handler[w] == committing)
#define ENDED(w) (handler[w] == answered || handler[w] == undone || handler[w] == guessed || handler[w] == crashed)
#define SPOOLED(h, a) (spool[h].token != NONE && (spool[h].ours -> OURS : spool[h].token) == (a))
#ifdef NO_SPOOL
#define HAS_ROOM false
#else
#define HAS_ROOM true
#endif
#define IN_SPOOL(t) (spool[0].token == (t) || spool[HOSTS - 1].token == (t))

#ifdef SLOT_AT_EXEC
/* Mutation: the worker's slot names the token when its handler starts, and not before the claim. */
#define SLOT(w) (RUNS(w) || ENDED(w) -> token[w] : NONE)
#else
#define SLOT(w) token[w]
#endif
/* Proof of death: that worker is no more, or has moved on, and so has the handler's group. */
#define IS_GONE(t, w) (SLOT(w) != (t) && !(RUNS(w) && group[w] == (t)))
/* What is true, whatever the slots say. */
#define OWNER_LIVES (token[record.owner] == record.token)
#define OWNER_IS_AT_IT (OWNER_LIVES || (RUNS(record.owner) && group[record.owner] == record.token))

#define REFERS(t) \
	(record.token == (t) || record.answer == (t) || told == (t) || token[0] == (t) || token[1] == (t) || \
	 seen[0] == (t) || seen[1] == (t) || group[0] == (t) || group[1] == (t) || sent[0] == (t) || sent[1] == (t) || \
	 IN_SPOOL(t) || spool[0].release == (t) || spool[HOSTS - 1].release == (t))

#define HOLDS_OUTCOME (record.state == in_flight || record.state == unknown)

#ifdef STORE_ANY_TOKEN
#define MAY_STORE(t) (record.state != absent)
#else
#define MAY_STORE(t) (record.token == (t) && HOLDS_OUTCOME)
#endif
#ifdef JOIN_ANY_TOKEN
#define MAY_JOIN(t) (record.state != absent)
#else
#ifdef JOIN_COMPLETE
#define MAY_JOIN(t) (record.token == (t))
#else
#define MAY_JOIN(t) (record.token == (t) && HOLDS_OUTCOME)
#endif
#endif
#ifdef DRAIN_ANY_TOKEN
#define MAY_DRAIN(t) (record.state != absent)
#else
#define MAY_DRAIN(t) MAY_STORE(t)
#endif
#ifdef RELEASE_UNKNOWN
#define MAY_RELEASE(t) (record.token == (t) && HOLDS_OUTCOME)
#else
#define MAY_RELEASE(t) (record.token == (t) && record.state == in_flight)
#endif

inline count_effect()
{
	if
	:: effects < 2 && (IS_JOINED || IS_UNKNOWN) -> effects++
	:: else /* on rerun routes a plain handler may act as often as it runs */
	fi
}

inline tell(a)
{
	if
	:: told == NONE -> told = a
	:: else -> equal_answers = (told == (a)); assert(equal_answers)
	fi
}

/* Once a statement is done: does its reply come? If not, the connection is made anew, or the database stays away. */
inline hear(is_lost)
{
	if
	:: is_lost = false
	:: faults > 0 ->
		faults--;
		is_lost = true;
		if
		:: away = true
		:: skip
		fi
	fi
}

inline delete_record()
{
	record.state = absent;
	record.token = NONE;
	record.owner = 0;
	record.answer = NONE;
	record.lapsed = false;
	record.counted = false
}

/* The row is `w`'s, by `token[w]`, from now on. */
inline own_record(w)
{
	record.state = in_flight;
	record.token = token[w];
	record.owner = w;
	record.answer = NONE;
	record.lapsed = false
}

/* A record that nobody owns says no more than it is asked for. */
inline settle(s, a)
{
	record.state = s;
	record.answer = a;
	record.owner = 0;
	record.lapsed = false;
	record.counted = false
}

inline free_record(nothing_done)
{
	may_start = may_start || (record.state == in_flight && nothing_done);
	if
	:: record.counted -> record.state = released; record.lapsed = false
	:: else -> delete_record()
	fi
}

inline sweep()
{
	for (t : 1 .. TOKENS) {
		if
		:: !REFERS(t) -> lease[t] = no_row
		:: else
		fi
	}
	t = NONE
}

/*
 * A worker, from request to request: clients keep asking, and one that has waited too long asks again, of anybody.
 */
active [WORKERS] proctype Worker()
{
	byte w = _pid;
	byte t = NONE;
	mtype:state found = absent;
	byte owner = 0;
	byte answer = NONE;
	bool lapsed = false;
	bool dead = false;     /* the owner, by proof */
	bool in_doubt = false; /* an earlier issue of the same statement may have been done */
	bool is_lost = false;
	bool lost = false;     /* our lease, and we know */
end:
	do
	:: {
		/* Before anybody can meet it in a record, our slot tells whose the token is. */
		atomic {
			d_step {
				t = 1 + w;
				do
				:: t <= TOKENS && REFERS(t) -> t = t + 2
				:: else -> break
				od;
				assert(t <= TOKENS);
				token[w] = t;
				t = NONE
			};
claim:
			if
			:: away -> goto store_is_down
			:: else
			fi;
			if
			:: record.state == absent -> own_record(w)
			:: else
			fi;
			seen[w] = record.token;
			found = record.state;
			owner = record.owner;
			answer = record.answer;
			lapsed = record.lapsed;
			hear(is_lost);
			if
			:: is_lost -> is_lost = false; in_doubt = true; seen[w] = NONE; found = absent; owner = 0;
				answer = NONE; lapsed = false; goto claim
			:: else
			fi;
			in_doubt = false;
			if
			:: seen[w] == token[w] -> goto won
			:: seen[w] != token[w] && found == complete -> goto reply
			:: seen[w] != token[w] && found == unknown -> goto finish
			:: seen[w] != token[w] && found == released -> goto take_over
			:: seen[w] != token[w] && found == in_flight -> answer = NONE
			fi;
			/* Its owner is proven dead, or its lease has lapsed, or it is at work. */
			if
#ifndef WAIT_FOR_EVER
			:: HOST(owner) == HOST(w) && IS_GONE(seen[w], owner) -> dead = true
			:: lapsed && !(HOST(owner) == HOST(w) && IS_GONE(seen[w], owner))
#endif
			:: else -> goto finish
			fi
		}
#ifndef TAKE_UNCLOSED
		/* After proof unconditionally; else unless it was renewed. */
		atomic {
			if
			:: away -> goto finish
			:: !away && (dead || lease[seen[w]] != renewed) -> lease[seen[w]] = closed
			:: !away && !dead && lease[seen[w]] == renewed -> goto finish
			fi
		}
#endif
		/* A handler of the closed lease on this host goes first. One that may yet be started cannot be confirmed gone. */
		atomic {
			if
			:: IS_UNKNOWN -> goto lapse_to_unknown
			:: !IS_UNKNOWN && HOST(owner) == HOST(w) && !dead ->
				if
#ifndef TAKE_UNKILLED
				:: SLOT(owner) == seen[w] && (handler[owner] == no_handler || handler[owner] == starting) ->
					goto finish
				:: RUNS(owner) && group[owner] == seen[w] -> handler[owner] = crashed
#endif
				:: else
				fi
			:: else
			fi
		}
take_over:
		atomic {
			if
			:: away -> if :: in_doubt -> goto give_up_claim :: else -> goto finish fi
			:: else
			fi;
			if
			:: record.token == seen[w] && (record.state == released || (record.state == in_flight &&
#ifndef TAKE_UNCLOSED
				lease[seen[w]] == closed &&
#endif
				(dead || record.lapsed))) ->
				own_record(w);
				record.counted = true
			:: else
			fi;
			hear(is_lost);
			if
			:: is_lost -> is_lost = false; in_doubt = true; goto take_over
			:: else
			fi;
			in_doubt = false;
			dead = false;
			lapsed = false;
			seen[w] = NONE;
			if
			:: record.token == token[w] -> goto won /* by this issue, or an earlier one in doubt */
			:: else -> goto claim
			fi
		}
lapse_to_unknown:
		atomic {
			if
			:: !away && record.token == seen[w] && record.state == in_flight && lease[seen[w]] == closed &&
				(dead || record.lapsed) -> settle(unknown, NONE)
			:: else
			fi;
			goto finish
		}
won:
		/* A claim confirmed late renews before its handler starts; whoever cannot gives the key back. */
		atomic {
			seen[w] = NONE;
			found = absent;
			owner = 0;
			lapsed = false;
			if
			:: record.token == token[w] && !record.lapsed
			:: else ->
				if
				:: away || lease[token[w]] == closed -> goto release
				:: else -> lease[token[w]] = renewed
				fi
			fi;
			handler[w] = starting
		}
		/* Here it may stand still for as long as it likes. */
		atomic {
			if
			:: IS_CAUTIOUS -> one_start = may_start; assert(one_start); may_start = false
			:: else
			fi;
			group[w] = token[w];
			handler[w] = running
		}
		do
		:: atomic {
			ENDED(w) -> break
		}
		:: atomic {
			RUNS(w) && !lost && !away && (record.token != token[w] || record.lapsed) && lease[token[w]] != renewed ->
			if
			:: lease[token[w]] != closed -> lease[token[w]] = renewed
			:: else ->
				lost = true;
				if
				:: !IS_UNKNOWN -> handler[w] = crashed
				:: else
				fi
			fi
		}
		:: atomic {
			/* The lease cannot be renewed in time. */
			RUNS(w) && away && !IS_UNKNOWN -> handler[w] = crashed
		}
		od;
		/* Judge. An answer of ours for a crash is every route's choice. */
		atomic {
			lost = false;
			if
			:: handler[w] == answered -> answer = token[w]; goto store
			:: handler[w] == guessed -> answer = OURS; goto store
			:: handler[w] == undone -> goto release
			:: handler[w] == crashed && !IS_CAUTIOUS -> goto release
#ifdef CRASH_RELEASES
			:: handler[w] == crashed && IS_CAUTIOUS -> goto release
#else
			:: handler[w] == crashed && IS_CAUTIOUS -> goto mark_unknown
#endif
			:: handler[w] == crashed -> answer = OURS; goto store
			fi
		}
store:
		atomic {
			if
			:: away -> goto spool_answer
			:: else
			fi;
			if
			:: MAY_STORE(token[w]) -> settle(complete, answer)
			:: else
#ifndef TELL_OWN
				/* Done by an earlier issue, or by the handler itself, or our lease is lost: what the record
				   says is all that may be told. */
				-> answer = (record.state == complete -> record.answer : NONE)
#endif
			fi;
			hear(is_lost);
			if
			:: is_lost -> is_lost = false; answer = (handler[w] == answered -> token[w] : OURS); goto store
			:: else
			fi;
			if
			:: answer == NONE -> goto finish
			:: else -> goto reply
			fi
		}
release:
		atomic {
			if
			:: away ->
				/* Nothing is told but that it was not done, which a retry may find otherwise. */
				goto give_up_claim
			:: else
			fi;
			if
			:: MAY_RELEASE(token[w]) -> free_record(handler[w] != crashed)
			:: else
			fi;
			hear(is_lost);
			if
			:: is_lost -> is_lost = false; goto release
			:: else -> goto finish
			fi
		}
mark_unknown:
		atomic {
			if
			:: !away && record.token == token[w] && record.state == in_flight ->
				settle(unknown, NONE)
			:: else /* not to be reached: it lapses to unknown */
			fi;
			goto finish
		}
spool_answer:
		/* On rerun routes nothing is sent before it is stored; nor is ours anywhere, for the handler may have
		   completed the key although it crashed. What does not fit in is not kept, and not sent. */
		atomic {
			if
			:: spool[HOST(w)].token == NONE && HAS_ROOM ->
				spool[HOST(w)].token = token[w];
				spool[HOST(w)].ours = (answer == OURS);
				if
#ifdef TELL_OURS_SPOOLED
				:: IS_UNKNOWN -> goto reply
#else
				:: IS_UNKNOWN && (answer != OURS || handler[w] == guessed) -> goto reply
#endif
#ifdef TELL_UNSTORED
				:: !IS_UNKNOWN -> goto reply
#endif
				:: else -> goto finish
				fi
			:: else -> goto finish
			fi
		}
give_up_claim:
		atomic {
			if
#ifdef ONE_ENTRY_A_KEY
			/* Mutation: entries of one key go by one name. */
			:: true -> spool[HOST(w)].token = NONE; spool[HOST(w)].ours = false; spool[HOST(w)].release = token[w]
#else
			:: spool[HOST(w)].release == NONE && HAS_ROOM -> spool[HOST(w)].release = token[w]
			:: else /* the lease decides */
#endif
			fi;
			goto finish
		}
store_is_down:
		/* A retry on this host replays from the spool all the same. */
		atomic {
			if
			:: in_doubt -> goto give_up_claim
			:: !in_doubt && IS_UNKNOWN && spool[HOST(w)].token != NONE && !spool[HOST(w)].ours ->
				answer = spool[HOST(w)].token;
				goto reply
			:: else -> goto finish
			fi
		}
reply:
		atomic {
			tell(answer);
finish:
			skip;
			d_step {
			token[w] = NONE;
			seen[w] = NONE;
			handler[w] = no_handler;
			group[w] = NONE;
			found = absent;
			owner = 0;
			answer = NONE;
			lapsed = false;
			dead = false;
			in_doubt = false;
			lost = false;
			sweep()
			}
		}
	} unless {
		atomic {
			!alive[w];
			t = NONE;
			found = absent;
			owner = 0;
			answer = NONE;
			lapsed = false;
			dead = false;
			in_doubt = false;
			is_lost = false;
			lost = false
		}
		/* The supervisor kills the group that was left, and starts another worker. */
		d_step {
			handler[w] = no_handler;
			group[w] = NONE;
			sweep();
			alive[w] = true
		}
	}
	od
}

/* The handler of each worker. */
active [WORKERS] proctype Handler()
{
	byte w = _pid - WORKERS;
end:
	do
	/* Plain: it acts, and then it answers, or does not come to that. */
	:: atomic {
		!IS_JOINED && handler[w] == running ->
		count_effect();
		if
		:: handler[w] = (alive[w] -> answered : no_handler)
		:: faults > 0 && alive[w] -> faults--; handler[w] = crashed
		fi
	}
	/* Joined: both in one transaction, which the server carries out whether or not its handler lives on ... */
	:: atomic { IS_JOINED && handler[w] == running && sent[w] == NONE -> sent[w] = group[w]; handler[w] = committing }
	/* ... and refuses to a token that has lost the key. */
	:: atomic {
		sent[w] != NONE ->
		if
		:: MAY_JOIN(sent[w]) ->
			count_effect();
			if
			:: record.state != complete -> settle(complete, sent[w])
			:: else
			fi;
			if
			:: handler[w] == committing && group[w] == sent[w] -> handler[w] = answered
			:: else
			fi
		:: else ->
			if
			:: handler[w] == committing && group[w] == sent[w] -> handler[w] = undone
			:: else
			fi
		fi;
		sent[w] = NONE
	}
	/* The reply to its commit is lost, done or not: it says Once-Outcome: release, which only a transaction that was
	   not done heeds. */
	:: atomic {
		handler[w] == committing && (faults > 0 || away) ->
		if
		:: !away -> faults--
		:: else
		fi;
#ifdef HANDLER_GUESSES
		handler[w] = guessed
#else
		handler[w] = undone
#endif
	}
	/* It says that it did nothing. */
	:: atomic { faults > 0 && handler[w] == running && !IS_JOINED -> faults--; handler[w] = undone }
	:: atomic { faults > 0 && RUNS(w) -> faults--; handler[w] = crashed }
	od
}

/* Each host's spool is drained by whichever of its workers comes first: when does not matter. */
active [HOSTS] proctype Drain()
{
	byte h = _pid - 2 * WORKERS;
	bool is_lost = false;
end:
	do
	:: atomic {
		!away && spool[h].token != NONE ->
		if
		:: MAY_DRAIN(spool[h].token) && spool[h].ours -> settle(complete, OURS)
		:: MAY_DRAIN(spool[h].token) && !spool[h].ours -> settle(complete, spool[h].token)
		:: else /* stored by an earlier issue or by the handler; or lost its token, and set aside for a person */
		fi;
		hear(is_lost);
		if
		:: !is_lost -> spool[h].token = NONE; spool[h].ours = false
		:: else -> is_lost = false
		fi
	}
	:: atomic {
		!away && spool[h].release != NONE ->
		if
		:: MAY_RELEASE(spool[h].release) -> free_record(true)
		:: else
		fi;
		hear(is_lost);
		if
		:: !is_lost -> spool[h].release = NONE
		:: else -> is_lost = false
		fi
	}
	od
}

inline lapse()
{
	if
	:: lease[record.token] == renewed -> lease[record.token] = over
	:: else
	fi;
	record.lapsed = true
}

/* Leases end by the database's clock. */
active proctype Time()
{
end:
	do
	:: atomic { away -> away = false }
	/* Owner and handler have gone, and time goes on. */
	:: atomic {
		record.state == in_flight && !OWNER_IS_AT_IT && (!record.lapsed || lease[record.token] == renewed) ->
		lapse()
	}
	/* It lives, and renews in time. */
	:: atomic {
		record.state == in_flight && !record.lapsed && OWNER_LIVES && RUNS(record.owner) && !away ->
		record.lapsed = true;
		lease[record.token] = renewed
	}
	/* It lives, and does not: a fault. On rerun routes it ends its handler before that, unless it stands still; as it
	   does where the supervisor does not come to kill what a worker left. */
	:: atomic {
		faults > 0 && record.state == in_flight && OWNER_IS_AT_IT &&
			(!record.lapsed || lease[record.token] == renewed) ->
		faults--;
		stopped = stopped || (HOSTS > 1 && !IS_UNKNOWN && (RUNS(record.owner) || handler[record.owner] == starting));
		lapse()
	}
#ifdef PURGE_FORGETS
	/* Mutation: a purge takes an in-flight record past its retention for abandoned, whatever its on_lapse says. */
	:: atomic {
		record.state == in_flight && record.lapsed && lease[record.token] != renewed ->
		lease[record.token] = closed;
		delete_record()
	}
#endif
	od
}

inline kill_worker(w)
{
	alive[w] = false;
	token[w] = NONE;
	seen[w] = NONE;
	if
	:: !RUNS(w) -> handler[w] = no_handler; group[w] = NONE
	:: else /* its processes live until the supervisor, or a taker, kills them */
	fi
}

inline kill_host(h)
{
	kill_worker(h);
	handler[h] = no_handler;
	group[h] = NONE;
	if
	:: HOSTS == 1 -> kill_worker(1); handler[1] = no_handler; group[1] = NONE
	:: else
	fi
}

active proctype Faults()
{
end:
	do
	:: d_step { faults > 0 && token[0] != NONE -> faults--; kill_worker(0) }
	:: d_step { faults > 0 && token[1] != NONE -> faults--; kill_worker(1) }
	:: d_step { faults > 0 && alive[0] -> faults--; kill_host(0) }
#ifndef ONE_HOST
	:: d_step { faults > 0 && alive[1] -> faults--; kill_host(1) }
#endif
	:: atomic { faults > 0 && !away -> faults--; away = true }
	od
}

#ifdef HASTY_PERSON
/* Mutation: a person who looks only at the business. */
#define MAY_SPEAK true
#else
/* Neither owner nor handler is left, and no spool holds an answer for it. */
#define MAY_SPEAK \
	(!IN_SPOOL(record.token) && token[0] != record.token && token[1] != record.token && \
	 !(RUNS(0) && group[0] == record.token) && !(RUNS(1) && group[1] == record.token))
#endif

/* once-resolve. The person tells the truth. */
active proctype Person()
{
end:
	do
	:: atomic {
		words > 0 && !away && record.state == unknown && MAY_SPEAK ->
		words--;
		if
		:: effects > 0 -> settle(complete, PERSON); record.token = PERSON
		:: else -> delete_record(); may_start = true
		fi
	}
	od
}

#ifndef LIVENESS
/* Each guard is a broken promise: in a sound protocol this process never moves. */
active proctype Promises()
{
	if
	:: atomic { IS_JOINED && effects > 1 -> one_effect = false; assert(one_effect) }
	:: atomic {
		IS_JOINED && record.state == complete && (record.answer != OURS) != (effects > 0) ->
		effect_as_stored = false;
		assert(effect_as_stored)
	}
	:: atomic {
		IS_JOINED && record.state != complete && effects > 0 -> effect_as_stored = false; assert(effect_as_stored)
	}
	:: atomic {
		!IS_UNKNOWN && HOSTS == 1 && RUNS(0) && RUNS(1) -> one_at_a_time = false; assert(one_at_a_time)
	}
	:: atomic {
		!IS_UNKNOWN && !stopped && RUNS(0) && RUNS(1) -> one_at_a_time_anywhere = false; assert(one_at_a_time_anywhere)
	}
	:: atomic {
		told != NONE && !(record.state == complete && record.answer == told) && !SPOOLED(0, told) &&
			!SPOOLED(HOSTS - 1, told) ->
		no_lost_answer = false;
		assert(no_lost_answer)
	}
	fi
}
#else
/* No key is stuck: with finitely many faults and words it comes to rest and stays there, whatever is asked meanwhile. */
#define IS_AT_REST (record.state == complete || record.state == unknown)
ltl no_stuck_key { <> [] IS_AT_REST }
#endif
