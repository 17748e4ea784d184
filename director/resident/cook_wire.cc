#include "director/resident/cook_wire.h"

#include <utility>

#include "common/base/status_macros.h"
#include "director/shell/counter_table.h"

namespace galley::director {
namespace {

const google::protobuf::FieldDescriptor* FieldOf(const CounterRow& row) {
  return v1::CookCounters::descriptor()->FindFieldByName(row.name);
}

void ToWire(const ShellOutcome& outcome, v1::CookReport::Outcome& out) {
  out.set_is_interrupted(outcome.ended.is_interrupted);
  out.set_is_fail_fast(outcome.ended.is_fail_fast);
  out.set_infrastructure_error(outcome.ended.infrastructure_error);
  director::ToWire(outcome.counters, *out.mutable_counters());
  for (const auto& [platform, root] : outcome.roots)
    (*out.mutable_roots())[platform] = root.ToString();
  out.set_bytes_stored(outcome.bytes_stored);
  out.set_bytes_deduplicated(outcome.bytes_deduplicated);
  out.set_lost_blobs(outcome.lost_blobs);
  out.set_lost_packages(outcome.lost_packages);
  out.set_collections_soft_limit(outcome.collections.soft_limit);
  out.set_collections_hard_limit(outcome.collections.hard_limit);
  out.set_collections_package_count(outcome.collections.package_count);
  out.set_collections_idle(outcome.collections.idle);
  out.set_collections_restarts(outcome.collections.restarts);
  out.set_collections_pauses(outcome.collections.pauses);
}

absl::StatusOr<ShellOutcome> FromWire(const v1::CookReport::Outcome& outcome) {
  ShellOutcome read;
  read.ended.is_interrupted = outcome.is_interrupted();
  read.ended.is_fail_fast = outcome.is_fail_fast();
  read.ended.infrastructure_error = outcome.infrastructure_error();
  read.counters = director::FromWire(outcome.counters());
  for (const auto& [platform, root] : outcome.roots()) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(root));
    read.roots.emplace(platform, digest);
  }
  read.bytes_stored = outcome.bytes_stored();
  read.bytes_deduplicated = outcome.bytes_deduplicated();
  read.lost_blobs = outcome.lost_blobs();
  read.lost_packages = outcome.lost_packages();
  read.collections = {.soft_limit = outcome.collections_soft_limit(),
                      .hard_limit = outcome.collections_hard_limit(),
                      .package_count = outcome.collections_package_count(),
                      .idle = outcome.collections_idle(),
                      .restarts = outcome.collections_restarts(),
                      .pauses = outcome.collections_pauses()};
  return read;
}

}  // namespace

void ToWire(const Counters& counters, v1::CookCounters& out) {
  for (const CounterRow& row : kCounterTable)
    out.GetReflection()->SetUInt64(&out, FieldOf(row), counters.*row.value);
}

Counters FromWire(const v1::CookCounters& counters) {
  Counters read;
  for (const CounterRow& row : kCounterTable)
    read.*row.value = counters.GetReflection()->GetUInt64(counters, FieldOf(row));
  return read;
}

void ToWire(const CookReport& cook, v1::CookReport& out) {
  out.set_end_code(static_cast<int32_t>(cook.end.code()));
  out.set_end_text(MessageOf(cook.end));
  if (cook.outcome.has_value()) ToWire(*cook.outcome, *out.mutable_outcome());
  for (const auto& [platform, sequence] : cook.sequences)
    (*out.mutable_sequences())[platform] = sequence;
  if (cook.listed) out.set_listed(*cook.listed);
  out.set_snapshot(cook.snapshot.ToString());
  out.set_has_failures(cook.has_failures);
  out.set_stage_failed(cook.stage_failed);
  out.set_is_published(cook.is_published);
  out.set_scan_us(absl::ToInt64Microseconds(cook.scan));
  out.set_explore_us(absl::ToInt64Microseconds(cook.explore));
  out.set_cook_us(absl::ToInt64Microseconds(cook.cook));
  out.set_stage_us(absl::ToInt64Microseconds(cook.stage));
  out.set_total_us(absl::ToInt64Microseconds(cook.total));
  out.set_bytes_fetched(cook.bytes_fetched);
}

absl::StatusOr<CookReport> FromWire(const v1::CookReport& report) {
  CookReport cook;
  if (report.end_code() != 0)
    cook.end = absl::Status(static_cast<absl::StatusCode>(report.end_code()), report.end_text());
  if (report.has_outcome()) {
    ASSIGN_OR_RETURN(cook.outcome, FromWire(report.outcome()));
  }
  cook.sequences.insert(report.sequences().begin(), report.sequences().end());
  if (report.has_listed()) cook.listed = report.listed();
  ASSIGN_OR_RETURN(cook.snapshot, Digest::Parse(report.snapshot()));
  cook.has_failures = report.has_failures();
  cook.stage_failed = report.stage_failed();
  cook.is_published = report.is_published();
  cook.scan = absl::Microseconds(report.scan_us());
  cook.explore = absl::Microseconds(report.explore_us());
  cook.cook = absl::Microseconds(report.cook_us());
  cook.stage = absl::Microseconds(report.stage_us());
  cook.total = absl::Microseconds(report.total_us());
  cook.bytes_fetched = report.bytes_fetched();
  return cook;
}

}  // namespace galley::director
