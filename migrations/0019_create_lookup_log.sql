-- Lookups that were logged, and which operators count as one in their metrics.
create table lookup_log (
    run_id varchar not null,
    logged_at timestamp not null,
    version_key varchar not null,
    mode varchar not null check (mode in ('default', 'shadow', 'allowlist', 'exact')),
    context_json varchar not null,
    op varchar not null,
    dispatch varchar not null,
    input_shapes varchar not null,
    input_dtypes varchar not null,
    call_count bigint not null check (call_count > 0),
    source varchar,
    latency_us double,
    confidence double,
    kernel_type varchar,
    method varchar,
    interpolation_dim integer,
    axes varchar,
    shape_match_rule varchar,
    miss_reason varchar,
    is_zero_cost boolean not null,
    policy_hash varchar,
    analytic_us double,
    candidate_source varchar,
    candidate_latency_us double,
    candidate_confidence double,
    candidate_kernel_type varchar,
    candidate_rule varchar,
    candidate_miss_reason varchar
);
comment on table lookup_log is 'Answers that were given, one row per distinct invocation and flush; written only when a log is asked for [source: simulator adapter, sqlinterp lookup --log]';
comment on column lookup_log.run_id is 'Data source or command that asked [identifier]';
comment on column lookup_log.logged_at is 'When the row was written [UTC]';
comment on column lookup_log.version_key is 'Version that answered [profile_version.version_key]';
comment on column lookup_log.mode is 'default, shadow (base answers, candidates logged), allowlist, or exact (interpolation disabled) [text]';
comment on column lookup_log.context_json is 'What the answers depended on besides the invocation: ep_size, tp_size, ... [JSON object]';
comment on column lookup_log.op is 'Operator [text]';
comment on column lookup_log.dispatch is 'Lookup path of its mapping entry, unmapped when it has none [text]';
comment on column lookup_log.input_shapes is 'Shapes of the input tensors in order, as 64,1536;1536,2304 [elements]';
comment on column lookup_log.input_dtypes is 'Their dtypes, separated by ; [torch dtype names]';
comment on column lookup_log.call_count is 'Calls since the row before of this invocation [count]';
comment on column lookup_log.source is 'MEASURED, INTERPOLATED, EXTRAPOLATED, PARTIAL, null for a miss [text]';
comment on column lookup_log.latency_us is 'Latency that was answered, null for a miss [us]';
comment on column lookup_log.confidence is 'Label for display, null for a miss [0 to 1]';
comment on column lookup_log.kernel_type is 'Kernel that answered, several separated by , [text]';
comment on column lookup_log.method is 'How the latency was found: exact, linear_1d, griddata_linear, ... [text]';
comment on column lookup_log.interpolation_dim is 'Axes that varied, null when nothing was interpolated [count]';
comment on column lookup_log.axes is 'Their names, separated by , [text]';
comment on column lookup_log.shape_match_rule is 'How the shapes matched [text]';
comment on column lookup_log.miss_reason is 'Why there is no complete answer, null when there is one [text]';
comment on column lookup_log.is_zero_cost is 'Whether the mapping declares that the operator costs nothing [boolean]';
comment on column lookup_log.policy_hash is 'SHA-256 of the effective policy, null when none applied [hex]';
comment on column lookup_log.analytic_us is 'What the simulator itself estimates for those calls together, null when it did not tell [us]';
comment on column lookup_log.candidate_source is 'Source of what interpolation would have answered instead, null when it would not or was not asked [text]';
comment on column lookup_log.candidate_latency_us is 'Latency of that answer [us]';
comment on column lookup_log.candidate_confidence is 'Confidence of that answer [0 to 1]';
comment on column lookup_log.candidate_kernel_type is 'Kernel of that answer [text]';
comment on column lookup_log.candidate_rule is 'Rule of that answer, e.g. interpolated_1d_linear [text]';
comment on column lookup_log.candidate_miss_reason is 'Why interpolation would not have answered either [text]';

create table fused_operator (prefix varchar not null, fused_name varchar not null);
comment on table fused_operator is 'Operators that one kernel does together and metrics count as one [source: metrics of the profiling database design]';
comment on column fused_operator.prefix is 'How the names of the operators start [text]';
comment on column fused_operator.fused_name is 'Name that they count under [text]';
insert into fused_operator values
    ('tensor_cast.permute_tokens', 'DispatchFFNCombine'),
    ('tensor_cast.init_routing', 'DispatchFFNCombine'),
    ('tensor_cast.grouped_matmul', 'DispatchFFNCombine'),
    ('tensor_cast.unpermute_tokens', 'DispatchFFNCombine'),
    ('tensor_cast.all_to_all', 'DispatchFFNCombine');
