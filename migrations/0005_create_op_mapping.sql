-- Operators, kernels and policies of op_mapping.yaml.
create table op_mapping (
    version_id integer not null,
    operator varchar not null,
    dispatch varchar not null,
    kernel_type varchar,
    alternate_kernel_types varchar[] not null,
    query_mode varchar,
    compute_subcategory varchar,
    tc_input_count integer,
    entry_json varchar not null
);
comment on table op_mapping is 'Simulator operators and the kernels they map to [source: op_mapping.yaml]';
comment on column op_mapping.version_id is 'Version of the mapping [profile_version.version_id]';
comment on column op_mapping.operator is 'Operator overload, e.g. aten.mm.default [text]';
comment on column op_mapping.dispatch is 'Lookup path that the entry selects: compute, elementwise, communication, composite, zero_cost ... [text]';
comment on column op_mapping.kernel_type is 'Primary kernel [text]';
comment on column op_mapping.alternate_kernel_types is 'Further kernels in order of preference [list of text]';
comment on column op_mapping.query_mode is 'query_mode of the entry [text]';
comment on column op_mapping.compute_subcategory is 'compute_subcategory of the entry [text]';
comment on column op_mapping.tc_input_count is 'Number of leading inputs that take part in matching, null = all [count]';
comment on column op_mapping.entry_json is 'The whole entry [JSON object]';

create table interpolation_policy (
    version_id integer not null,
    scope varchar not null check (scope in ('global', 'kernel', 'operator', 'latency', 'selection')),
    subject varchar not null,
    policy_json varchar not null
);
comment on table interpolation_policy is 'Interpolation, latency and selection policies [source: op_mapping.yaml]';
comment on column interpolation_policy.version_id is 'Version of the mapping [profile_version.version_id]';
comment on column interpolation_policy.scope is 'global, kernel or operator (interpolation_policy); latency, selection (kernel overrides of latency_policy, query_selection_policy) [text]';
comment on column interpolation_policy.subject is 'Kernel or operator concerned, * for global [text]';
comment on column interpolation_policy.policy_json is 'The policy fields [JSON object]';
