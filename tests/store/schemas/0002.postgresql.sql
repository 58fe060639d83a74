CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.answers (
    who text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request_sha256 bytea NOT NULL,
    status bigint NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.audit (
    no bigint NOT NULL,
    at bigint NOT NULL,
    by text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL,
    detail text NOT NULL,
    network text COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.audit_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_no_seq OWNED BY public.audit.no;
CREATE TABLE public.cases (
    contest_no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    subjects text NOT NULL,
    finding text,
    steps text NOT NULL,
    opened_at bigint NOT NULL
);
CREATE TABLE public.changes (
    contest_no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    params text NOT NULL,
    reason text NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    proposed_by text NOT NULL COLLATE pg_catalog."C",
    proposed_at bigint NOT NULL,
    report text,
    dry_run_at bigint,
    applied_at bigint,
    rolled_back_at bigint
);
CREATE TABLE public.contests (
    no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    discipline text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    description text NOT NULL,
    visibility text NOT NULL COLLATE pg_catalog."C",
    series text COLLATE pg_catalog."C",
    season bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    edition text NOT NULL COLLATE pg_catalog."C",
    overrides text NOT NULL,
    boards text NOT NULL,
    created_at bigint NOT NULL,
    seq bigint NOT NULL,
    head bytea NOT NULL,
    frozen_at bigint,
    finalised_at bigint
);
CREATE SEQUENCE public.contests_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.contests_no_seq OWNED BY public.contests.no;
CREATE TABLE public.deliveries (
    id text NOT NULL COLLATE pg_catalog."C",
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    event_no bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    attempts text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.entries (
    contest_no bigint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    line bytea NOT NULL,
    sha256 bytea NOT NULL,
    table_name text COLLATE pg_catalog."C",
    record text COLLATE pg_catalog."C",
    external_id text COLLATE pg_catalog."C",
    content bytea
);
CREATE TABLE public.events (
    no bigint NOT NULL,
    contest_no bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL,
    staff boolean NOT NULL
);
CREATE SEQUENCE public.events_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.events_no_seq OWNED BY public.events.no;
CREATE TABLE public.findings (
    contest_no bigint NOT NULL,
    place bigint NOT NULL,
    line bytea NOT NULL
);
CREATE TABLE public.histories (
    contest_no bigint NOT NULL,
    board text NOT NULL COLLATE pg_catalog."C",
    participant text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    rank bigint,
    score double precision,
    reason text
);
CREATE TABLE public.jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    contest_no bigint,
    created_at bigint NOT NULL,
    not_before bigint NOT NULL,
    turn bigint NOT NULL,
    attempts bigint NOT NULL,
    max_attempts bigint NOT NULL,
    by text NOT NULL COLLATE pg_catalog."C",
    dedupe text COLLATE pg_catalog."C",
    worker text COLLATE pg_catalog."C",
    lease text COLLATE pg_catalog."C",
    leased_until bigint,
    started_at bigint,
    ended_at bigint,
    progress double precision,
    causes text NOT NULL,
    result text
);
CREATE TABLE public.looks (
    contest_no bigint NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE public.snapshot_ids (
    snapshot_no bigint NOT NULL,
    bucket bigint NOT NULL,
    places bytea NOT NULL
);
CREATE TABLE public.snapshot_rows (
    snapshot_no bigint NOT NULL,
    unscored boolean NOT NULL,
    chunk bigint NOT NULL,
    lines bytea NOT NULL
);
CREATE TABLE public.snapshots (
    no bigint NOT NULL,
    contest_no bigint NOT NULL,
    board text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    published_at bigint NOT NULL,
    manifest text NOT NULL,
    signature text NOT NULL,
    board_sha256 text NOT NULL COLLATE pg_catalog."C",
    rows bigint NOT NULL,
    unscored bigint NOT NULL,
    stored boolean NOT NULL,
    buckets bigint NOT NULL
);
CREATE SEQUENCE public.snapshots_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.snapshots_no_seq OWNED BY public.snapshots.no;
CREATE TABLE public.switches (
    name text NOT NULL COLLATE pg_catalog."C",
    is_on boolean NOT NULL
);
CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    secret_sha256 bytea NOT NULL,
    contests text,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    used_at bigint
);
CREATE TABLE public.users (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    created_at bigint NOT NULL,
    disabled boolean NOT NULL,
    password text
);
CREATE TABLE public.webhooks (
    id text NOT NULL COLLATE pg_catalog."C",
    contest_no bigint NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    events text NOT NULL,
    staff boolean NOT NULL,
    active boolean NOT NULL,
    created_at bigint NOT NULL,
    by text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.workers (
    name text NOT NULL COLLATE pg_catalog."C",
    kinds text NOT NULL,
    seen_at bigint NOT NULL,
    version text NOT NULL
);
ALTER TABLE ONLY public.audit ALTER COLUMN no SET DEFAULT nextval('public.audit_no_seq'::regclass);
ALTER TABLE ONLY public.contests ALTER COLUMN no SET DEFAULT nextval('public.contests_no_seq'::regclass);
ALTER TABLE ONLY public.events ALTER COLUMN no SET DEFAULT nextval('public.events_no_seq'::regclass);
ALTER TABLE ONLY public.snapshots ALTER COLUMN no SET DEFAULT nextval('public.snapshots_no_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0002');
INSERT INTO public.contests VALUES (1, 'spring', 'arena', 'Spring', '', 'public', NULL, NULL, 'open', 'arena/sentience-1', '{}', '["models"]', 1795348800123456, 4, '\xe446ff7a5dc817664c672a4da343f13d0c380cb29d07ca6ed7566f8b53097427', NULL, NULL);
INSERT INTO public.entries VALUES (1, 1, 'contest-created', 1795348800123456, '\x7b226174223a22323032362d31312d32325431323a30303a30302e3132333435365a222c22626f6479223a7b22626f61726473223a5b226d6f64656c73225d2c22636f6e74657374223a22737072696e67222c226465736372697074696f6e223a22222c226469736369706c696e65223a226172656e61222c2265646974696f6e223a226172656e612f73656e7469656e63652d31222c226f7665727269646573223a7b7d2c22736561736f6e223a6e756c6c2c22736572696573223a6e756c6c2c227469746c65223a22537072696e67222c227669736962696c697479223a227075626c6963227d2c226279223a22757365723a616461222c2265787465726e616c5f6964223a6e756c6c2c226b696e64223a22636f6e746573742d63726561746564222c22736571223a317d', '\x406f13f3e6411eb805b2fd850ff07b35285b1aa8041278783bca683d92fd07f0', NULL, NULL, NULL, NULL);
INSERT INTO public.entries VALUES (1, 2, 'contest-opened', 1795348801123456, '\x7b226174223a22323032362d31312d32325431323a30303a30312e3132333435365a222c22626f6479223a7b7d2c226279223a22757365723a616461222c2265787465726e616c5f6964223a6e756c6c2c226b696e64223a22636f6e746573742d6f70656e6564222c22736571223a327d', '\xadce149db689cf4e998e08a51e8ac4d19b20ab27276ffb3b5e95360bc6ce984d', NULL, NULL, NULL, NULL);
INSERT INTO public.entries VALUES (1, 3, 'record-added', 1795348802123456, '\x7b226174223a22323032362d31312d32325431323a30303a30322e3132333435365a222c22626f6479223a7b22726f77223a7b226d61746368223a226d31227d2c227461626c65223a22766f746573227d2c226279223a22757365723a616461222c2265787465726e616c5f6964223a227831222c226b696e64223a227265636f72642d6164646564222c22736571223a337d', '\x2b83f97d3d7ae8893edcbb3cd2035e189005ca579b50cb0f92c57574b36408d1', 'votes', 'votes/m1', 'x1', '\xd5c7521d3a39461607c923922d4db1e3aab0e6d80a38cda3fe87daec4bb7407f');
INSERT INTO public.entries VALUES (1, 4, 'record-added', 1795348803123456, '\x7b226174223a22323032362d31312d32325431323a30303a30332e3132333435365a222c22626f6479223a7b22726f77223a7b226d61746368223a226d32227d2c227461626c65223a22766f746573227d2c226279223a22757365723a616461222c2265787465726e616c5f6964223a227832222c226b696e64223a227265636f72642d6164646564222c22736571223a347d', '\xe446ff7a5dc817664c672a4da343f13d0c380cb29d07ca6ed7566f8b53097427', 'votes', 'votes/m2', 'x2', '\xd75acbb29e03a2393d941427818d9dc0713070778ebf9ccbbcd0724e639d8266');
INSERT INTO public.events VALUES (1, 1, 4, 1795348800123456, 'contest-opened', '{}', false);
INSERT INTO public.histories VALUES (1, 'models', 'a', 4, 1795348800123456, 1, 1.5, NULL);
INSERT INTO public.jobs VALUES ('j1', 'judge', 'queued', '{"submission":"j1"}', 1, 1795348800123456, 1795348800123456, 0, 0, 5, 'system', 'd', NULL, NULL, NULL, NULL, NULL, NULL, '[]', NULL);
INSERT INTO public.snapshot_ids VALUES (1, 0, '\x7b2261223a302c2262223a317d');
INSERT INTO public.snapshot_rows VALUES (1, false, 0, '\x7b226964223a2261227d0a7b226964223a2262227d');
INSERT INTO public.snapshot_rows VALUES (1, true, 0, '\x7b226964223a2263227d');
INSERT INTO public.snapshots VALUES (1, 1, 'models', 4, 1795348800123456, 1795348801123456, '{"seq":7,"board":"models"}', 'abababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab', 'cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd', 2, 1, true, 1);
INSERT INTO public.users VALUES ('ada', 'Ada Ł', 1795348800123456, false, NULL);
SELECT pg_catalog.setval('public.audit_no_seq', 1, false);
SELECT pg_catalog.setval('public.contests_no_seq', 1, true);
SELECT pg_catalog.setval('public.events_no_seq', 1, true);
SELECT pg_catalog.setval('public.snapshots_no_seq', 1, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (who, key);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT cases_pkey PRIMARY KEY (contest_no, id);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (contest_no, id);
ALTER TABLE ONLY public.contests
    ADD CONSTRAINT contests_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (contest_no, seq);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.findings
    ADD CONSTRAINT findings_pkey PRIMARY KEY (contest_no, place);
ALTER TABLE ONLY public.histories
    ADD CONSTRAINT histories_pkey PRIMARY KEY (contest_no, board, participant, seq);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.looks
    ADD CONSTRAINT looks_pkey PRIMARY KEY (contest_no);
ALTER TABLE ONLY public.snapshot_ids
    ADD CONSTRAINT snapshot_ids_pkey PRIMARY KEY (snapshot_no, bucket);
ALTER TABLE ONLY public.snapshot_rows
    ADD CONSTRAINT snapshot_rows_pkey PRIMARY KEY (snapshot_no, unscored, chunk);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.switches
    ADD CONSTRAINT switches_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (name);
CREATE INDEX answers_at_idx ON public.answers USING btree (at);
CREATE UNIQUE INDEX contests_id_key ON public.contests USING btree (id);
CREATE INDEX contests_series_idx ON public.contests USING btree (series, id);
CREATE INDEX deliveries_webhook_idx ON public.deliveries USING btree (webhook_id, created_at, id);
CREATE UNIQUE INDEX entries_external_id_key ON public.entries USING btree (contest_no, external_id) WHERE ((external_id IS NOT NULL) AND (kind <> 'record-replaced'::text));
CREATE INDEX entries_kind_idx ON public.entries USING btree (contest_no, kind, seq) WHERE ((kind <> 'record-added'::text) AND (kind <> 'record-replaced'::text));
CREATE UNIQUE INDEX entries_record_key ON public.entries USING btree (contest_no, record) WHERE ((record IS NOT NULL) AND (kind <> 'record-replaced'::text));
CREATE INDEX entries_replaced_external_id_idx ON public.entries USING btree (contest_no, external_id) WHERE ((external_id IS NOT NULL) AND (kind = 'record-replaced'::text));
CREATE INDEX entries_replaced_record_idx ON public.entries USING btree (contest_no, record) WHERE ((record IS NOT NULL) AND (kind = 'record-replaced'::text));
CREATE INDEX entries_table_idx ON public.entries USING btree (contest_no, table_name, seq) WHERE (table_name IS NOT NULL);
CREATE INDEX events_contest_idx ON public.events USING btree (contest_no, no);
CREATE INDEX jobs_contest_idx ON public.jobs USING btree (contest_no, created_at, id);
CREATE INDEX jobs_created_idx ON public.jobs USING btree (created_at, id);
CREATE UNIQUE INDEX jobs_dedupe_key ON public.jobs USING btree (dedupe) WHERE ((dedupe IS NOT NULL) AND (state = 'queued'::text));
CREATE INDEX jobs_done_idx ON public.jobs USING btree (kind, ended_at) WHERE (state = 'done'::text);
CREATE INDEX jobs_leased_idx ON public.jobs USING btree (leased_until) WHERE (state = 'leased'::text);
CREATE INDEX jobs_queued_idx ON public.jobs USING btree (turn, created_at, id) WHERE (state = 'queued'::text);
CREATE INDEX snapshots_board_idx ON public.snapshots USING btree (contest_no, board, seq);
CREATE INDEX tokens_user_id_idx ON public.tokens USING btree (user_id, id);
CREATE INDEX webhooks_contest_idx ON public.webhooks USING btree (contest_no, created_at, id);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT cases_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.findings
    ADD CONSTRAINT findings_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.looks
    ADD CONSTRAINT looks_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_contest_no_fkey FOREIGN KEY (contest_no) REFERENCES public.contests(no);
