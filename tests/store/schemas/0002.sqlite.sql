BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE answers (
	who TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	request_sha256 BLOB NOT NULL, 
	status BIGINT NOT NULL, 
	headers TEXT NOT NULL, 
	body BLOB NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT answers_pkey PRIMARY KEY (who, "key")
);
CREATE TABLE audit (
	no INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	"by" TEXT NOT NULL, 
	action TEXT NOT NULL, 
	target TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	network TEXT, 
	CONSTRAINT audit_pkey PRIMARY KEY (no)
);
CREATE TABLE cases (
	contest_no BIGINT NOT NULL, 
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	title TEXT NOT NULL, 
	subjects TEXT NOT NULL, 
	finding TEXT, 
	steps TEXT NOT NULL, 
	opened_at BIGINT NOT NULL, 
	CONSTRAINT cases_pkey PRIMARY KEY (contest_no, id), 
	CONSTRAINT cases_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
CREATE TABLE changes (
	contest_no BIGINT NOT NULL, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	params TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	state TEXT NOT NULL, 
	proposed_by TEXT NOT NULL, 
	proposed_at BIGINT NOT NULL, 
	report TEXT, 
	dry_run_at BIGINT, 
	applied_at BIGINT, 
	rolled_back_at BIGINT, 
	CONSTRAINT changes_pkey PRIMARY KEY (contest_no, id), 
	CONSTRAINT changes_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
CREATE TABLE contests (
	no INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	discipline TEXT NOT NULL, 
	title TEXT NOT NULL, 
	description TEXT NOT NULL, 
	visibility TEXT NOT NULL, 
	series TEXT, 
	season BIGINT, 
	state TEXT NOT NULL, 
	edition TEXT NOT NULL, 
	overrides TEXT NOT NULL, 
	boards TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	head BLOB NOT NULL, 
	frozen_at BIGINT, 
	finalised_at BIGINT, 
	CONSTRAINT contests_pkey PRIMARY KEY (no)
);
INSERT INTO "contests" VALUES(1,'spring','arena','Spring','','public',NULL,NULL,'open','arena/sentience-1','{}','["models"]',1795348800123456,4,X'E446FF7A5DC817664C672A4DA343F13D0C380CB29D07CA6ED7566F8B53097427',NULL,NULL);
CREATE TABLE deliveries (
	id TEXT NOT NULL, 
	webhook_id TEXT NOT NULL, 
	event_no BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	attempts TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT deliveries_pkey PRIMARY KEY (id), 
	CONSTRAINT deliveries_webhook_id_fkey FOREIGN KEY(webhook_id) REFERENCES webhooks (id)
);
CREATE TABLE entries (
	contest_no BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	line BLOB NOT NULL, 
	sha256 BLOB NOT NULL, 
	table_name TEXT, 
	record TEXT, 
	external_id TEXT, 
	content BLOB, 
	CONSTRAINT entries_pkey PRIMARY KEY (contest_no, seq)
)
 WITHOUT ROWID

;
INSERT INTO "entries" VALUES(1,1,'contest-created',1795348800123456,X'7B226174223A22323032362D31312D32325431323A30303A30302E3132333435365A222C22626F6479223A7B22626F61726473223A5B226D6F64656C73225D2C22636F6E74657374223A22737072696E67222C226465736372697074696F6E223A22222C226469736369706C696E65223A226172656E61222C2265646974696F6E223A226172656E612F73656E7469656E63652D31222C226F7665727269646573223A7B7D2C22736561736F6E223A6E756C6C2C22736572696573223A6E756C6C2C227469746C65223A22537072696E67222C227669736962696C697479223A227075626C6963227D2C226279223A22757365723A616461222C2265787465726E616C5F6964223A6E756C6C2C226B696E64223A22636F6E746573742D63726561746564222C22736571223A317D',X'406F13F3E6411EB805B2FD850FF07B35285B1AA8041278783BCA683D92FD07F0',NULL,NULL,NULL,NULL);
INSERT INTO "entries" VALUES(1,2,'contest-opened',1795348801123456,X'7B226174223A22323032362D31312D32325431323A30303A30312E3132333435365A222C22626F6479223A7B7D2C226279223A22757365723A616461222C2265787465726E616C5F6964223A6E756C6C2C226B696E64223A22636F6E746573742D6F70656E6564222C22736571223A327D',X'ADCE149DB689CF4E998E08A51E8AC4D19B20AB27276FFB3B5E95360BC6CE984D',NULL,NULL,NULL,NULL);
INSERT INTO "entries" VALUES(1,3,'record-added',1795348802123456,X'7B226174223A22323032362D31312D32325431323A30303A30322E3132333435365A222C22626F6479223A7B22726F77223A7B226D61746368223A226D31227D2C227461626C65223A22766F746573227D2C226279223A22757365723A616461222C2265787465726E616C5F6964223A227831222C226B696E64223A227265636F72642D6164646564222C22736571223A337D',X'2B83F97D3D7AE8893EDCBB3CD2035E189005CA579B50CB0F92C57574B36408D1','votes','votes/m1','x1',X'D5C7521D3A39461607C923922D4DB1E3AAB0E6D80A38CDA3FE87DAEC4BB7407F');
INSERT INTO "entries" VALUES(1,4,'record-added',1795348803123456,X'7B226174223A22323032362D31312D32325431323A30303A30332E3132333435365A222C22626F6479223A7B22726F77223A7B226D61746368223A226D32227D2C227461626C65223A22766F746573227D2C226279223A22757365723A616461222C2265787465726E616C5F6964223A227832222C226B696E64223A227265636F72642D6164646564222C22736571223A347D',X'E446FF7A5DC817664C672A4DA343F13D0C380CB29D07CA6ED7566F8B53097427','votes','votes/m2','x2',X'D75ACBB29E03A2393D941427818D9DC0713070778EBF9CCBBCD0724E639D8266');
CREATE TABLE events (
	no INTEGER NOT NULL, 
	contest_no BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	staff BOOLEAN NOT NULL, 
	CONSTRAINT events_pkey PRIMARY KEY (no), 
	CONSTRAINT events_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
INSERT INTO "events" VALUES(1,1,4,1795348800123456,'contest-opened','{}',0);
CREATE TABLE findings (
	contest_no BIGINT NOT NULL, 
	place BIGINT NOT NULL, 
	line BLOB NOT NULL, 
	CONSTRAINT findings_pkey PRIMARY KEY (contest_no, place), 
	CONSTRAINT findings_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
CREATE TABLE histories (
	contest_no BIGINT NOT NULL, 
	board TEXT NOT NULL, 
	participant TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	rank BIGINT, 
	score FLOAT, 
	reason TEXT, 
	CONSTRAINT histories_pkey PRIMARY KEY (contest_no, board, participant, seq)
)
 WITHOUT ROWID

;
INSERT INTO "histories" VALUES(1,'models','a',4,1795348800123456,1,1.5,NULL);
CREATE TABLE jobs (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	contest_no BIGINT, 
	created_at BIGINT NOT NULL, 
	not_before BIGINT NOT NULL, 
	turn BIGINT NOT NULL, 
	attempts BIGINT NOT NULL, 
	max_attempts BIGINT NOT NULL, 
	"by" TEXT NOT NULL, 
	dedupe TEXT, 
	worker TEXT, 
	lease TEXT, 
	leased_until BIGINT, 
	started_at BIGINT, 
	ended_at BIGINT, 
	progress FLOAT, 
	causes TEXT NOT NULL, 
	result TEXT, 
	CONSTRAINT jobs_pkey PRIMARY KEY (id), 
	CONSTRAINT jobs_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
INSERT INTO "jobs" VALUES('j1','judge','queued','{"submission":"j1"}',1,1795348800123456,1795348800123456,0,0,5,'system','d',NULL,NULL,NULL,NULL,NULL,NULL,'[]',NULL);
CREATE TABLE looks (
	contest_no BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	CONSTRAINT looks_pkey PRIMARY KEY (contest_no), 
	CONSTRAINT looks_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
CREATE TABLE snapshot_ids (
	snapshot_no BIGINT NOT NULL, 
	bucket BIGINT NOT NULL, 
	places BLOB NOT NULL, 
	CONSTRAINT snapshot_ids_pkey PRIMARY KEY (snapshot_no, bucket)
);
INSERT INTO "snapshot_ids" VALUES(1,0,X'7B2261223A302C2262223A317D');
CREATE TABLE snapshot_rows (
	snapshot_no BIGINT NOT NULL, 
	unscored BOOLEAN NOT NULL, 
	chunk BIGINT NOT NULL, 
	lines BLOB NOT NULL, 
	CONSTRAINT snapshot_rows_pkey PRIMARY KEY (snapshot_no, unscored, chunk)
);
INSERT INTO "snapshot_rows" VALUES(1,0,0,X'7B226964223A2261227D0A7B226964223A2262227D');
INSERT INTO "snapshot_rows" VALUES(1,1,0,X'7B226964223A2263227D');
CREATE TABLE snapshots (
	no INTEGER NOT NULL, 
	contest_no BIGINT NOT NULL, 
	board TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	published_at BIGINT NOT NULL, 
	manifest TEXT NOT NULL, 
	signature TEXT NOT NULL, 
	board_sha256 TEXT NOT NULL, 
	rows BIGINT NOT NULL, 
	unscored BIGINT NOT NULL, 
	stored BOOLEAN NOT NULL, 
	buckets BIGINT NOT NULL, 
	CONSTRAINT snapshots_pkey PRIMARY KEY (no), 
	CONSTRAINT snapshots_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
INSERT INTO "snapshots" VALUES(1,1,'models',4,1795348800123456,1795348801123456,'{"seq":7,"board":"models"}','abababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',2,1,1,1);
CREATE TABLE switches (
	name TEXT NOT NULL, 
	is_on BOOLEAN NOT NULL, 
	CONSTRAINT switches_pkey PRIMARY KEY (name)
);
CREATE TABLE tokens (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	label TEXT NOT NULL, 
	role TEXT NOT NULL, 
	secret_sha256 BLOB NOT NULL, 
	contests TEXT, 
	scopes TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, 
	used_at BIGINT, 
	CONSTRAINT tokens_pkey PRIMARY KEY (id), 
	CONSTRAINT tokens_user_id_fkey FOREIGN KEY(user_id) REFERENCES users (id)
);
CREATE TABLE users (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	disabled BOOLEAN NOT NULL, 
	password TEXT, 
	CONSTRAINT users_pkey PRIMARY KEY (id)
);
INSERT INTO "users" VALUES('ada','Ada Ł',1795348800123456,0,NULL);
CREATE TABLE webhooks (
	id TEXT NOT NULL, 
	contest_no BIGINT NOT NULL, 
	url TEXT NOT NULL, 
	secret BLOB NOT NULL, 
	events TEXT NOT NULL, 
	staff BOOLEAN NOT NULL, 
	active BOOLEAN NOT NULL, 
	created_at BIGINT NOT NULL, 
	"by" TEXT NOT NULL, 
	CONSTRAINT webhooks_pkey PRIMARY KEY (id), 
	CONSTRAINT webhooks_contest_no_fkey FOREIGN KEY(contest_no) REFERENCES contests (no)
);
CREATE TABLE workers (
	name TEXT NOT NULL, 
	kinds TEXT NOT NULL, 
	seen_at BIGINT NOT NULL, 
	version TEXT NOT NULL, 
	CONSTRAINT workers_pkey PRIMARY KEY (name)
);
CREATE INDEX answers_at_idx ON answers (at);
CREATE UNIQUE INDEX contests_id_key ON contests (id);
CREATE INDEX contests_series_idx ON contests (series, id);
CREATE UNIQUE INDEX entries_external_id_key ON entries (contest_no, external_id) WHERE external_id IS NOT NULL AND kind <> 'record-replaced';
CREATE UNIQUE INDEX entries_record_key ON entries (contest_no, record) WHERE record IS NOT NULL AND kind <> 'record-replaced';
CREATE INDEX entries_replaced_external_id_idx ON entries (contest_no, external_id) WHERE external_id IS NOT NULL AND kind = 'record-replaced';
CREATE INDEX entries_replaced_record_idx ON entries (contest_no, record) WHERE record IS NOT NULL AND kind = 'record-replaced';
CREATE INDEX entries_table_idx ON entries (contest_no, table_name, seq) WHERE table_name IS NOT NULL;
CREATE INDEX events_contest_idx ON events (contest_no, no);
CREATE INDEX jobs_contest_idx ON jobs (contest_no, created_at, id);
CREATE INDEX jobs_created_idx ON jobs (created_at, id);
CREATE UNIQUE INDEX jobs_dedupe_key ON jobs (dedupe) WHERE dedupe IS NOT NULL AND state = 'queued';
CREATE INDEX jobs_done_idx ON jobs (kind, ended_at) WHERE state = 'done';
CREATE INDEX jobs_leased_idx ON jobs (leased_until) WHERE state = 'leased';
CREATE INDEX jobs_queued_idx ON jobs (turn, created_at, id) WHERE state = 'queued';
CREATE INDEX snapshots_board_idx ON snapshots (contest_no, board, seq);
CREATE INDEX tokens_user_id_idx ON tokens (user_id, id);
CREATE INDEX webhooks_contest_idx ON webhooks (contest_no, created_at, id);
CREATE INDEX deliveries_webhook_idx ON deliveries (webhook_id, created_at, id);
CREATE INDEX entries_kind_idx ON entries (contest_no, kind, seq) WHERE kind <> 'record-added' AND kind <> 'record-replaced';
COMMIT;
