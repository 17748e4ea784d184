#include "common/store/owner/store_wire.h"

#include "common/base/plain_text.h"

namespace galley::store {

v1::DigestList ToWire(std::span<const Digest> digests) {
  v1::DigestList list;
  for (const Digest& digest : digests) SetRawDigest(digest, list.add_digests());
  return list;
}

absl::StatusOr<std::vector<Digest>> FromWire(
    const google::protobuf::RepeatedPtrField<v1::BlobDigest>& list) {
  std::vector<Digest> digests;
  for (const v1::BlobDigest& wire : list) {
    ASSIGN_OR_RETURN(const Digest digest, RawDigestOf(wire));
    digests.push_back(digest);
  }
  return digests;
}

v1::Root ToWire(const PublishedRoot& root) {
  v1::Root wire;
  wire.set_project_id(root.project_id);
  wire.set_platform(root.platform);
  wire.set_sequence(root.sequence);
  SetRawDigest(root.root, wire.mutable_root());
  wire.set_by_the_book(root.by_the_book);
  wire.set_time_us(absl::ToUnixMicros(root.time));
  SetRawDigest(root.snapshot, wire.mutable_snapshot());
  wire.set_keep_roots(root.keep_roots);
  return wire;
}

absl::StatusOr<PublishedRoot> FromWire(const v1::Root& wire) {
  PublishedRoot root;
  root.project_id = wire.project_id();
  root.platform = wire.platform();
  root.sequence = wire.sequence();
  ASSIGN_OR_RETURN(root.root, RawDigestOf(wire.root()));
  root.by_the_book = wire.by_the_book();
  root.time = absl::FromUnixMicros(wire.time_us());
  ASSIGN_OR_RETURN(root.snapshot, RawDigestOf(wire.snapshot()));
  root.keep_roots = wire.keep_roots();
  return root;
}

v1::RootLease ToWire(const RootLease& lease) {
  v1::RootLease wire;
  wire.set_name(lease.name);
  SetRawDigest(lease.root, wire.mutable_root());
  wire.set_until_us(absl::ToUnixMicros(lease.until));
  return wire;
}

absl::StatusOr<RootLease> FromWire(const v1::RootLease& wire) {
  ASSIGN_OR_RETURN(const Digest root, RawDigestOf(wire.root()));
  return RootLease{
      .name = wire.name(), .root = root, .until = absl::FromUnixMicros(wire.until_us())};
}

absl::StatusOr<std::vector<RootLease>> FromWire(
    const google::protobuf::RepeatedPtrField<v1::RootLease>& list) {
  std::vector<RootLease> leases;
  for (const v1::RootLease& wire : list) {
    ASSIGN_OR_RETURN(RootLease lease, FromWire(wire));
    leases.push_back(std::move(lease));
  }
  return leases;
}

v1::LeaseChanges ToWire(const LeaseChanges& changes) {
  v1::LeaseChanges wire;
  for (const std::string& name : changes.released) wire.add_released(name);
  for (const RootLease& lease : changes.taken) *wire.add_taken() = ToWire(lease);
  return wire;
}

absl::StatusOr<LeaseChanges> FromWire(const v1::LeaseChanges& wire) {
  LeaseChanges changes;
  changes.released.assign(wire.released().begin(), wire.released().end());
  ASSIGN_OR_RETURN(changes.taken, FromWire(wire.taken()));
  return changes;
}

v1::CommitRequest ToWire(const CommitBatch& batch) {
  v1::CommitRequest wire;
  for (const auto& [digest, location] : batch.blobs) {
    v1::LocatedBlob& blob = *wire.add_blobs();
    SetRawDigest(digest, blob.mutable_digest());
    blob.set_segment(location.segment);
    blob.set_offset(location.offset);
  }
  for (const PutResult& put : batch.results) {
    v1::ResultToPut& result = *wire.add_results();
    SetRawDigest(put.weak_key, result.mutable_weak_key());
    result.set_observation_set(put.observation_set);
    SetRawDigest(put.action_key, result.mutable_action_key());
    result.set_result(put.result);
  }
  for (const PutSet& put : batch.sets) {
    v1::SetToPut& set = *wire.add_sets();
    SetRawDigest(put.weak_key, set.mutable_weak_key());
    set.set_observation_set(put.observation_set);
  }
  for (const PutActionResult& put : batch.action_results) {
    v1::ActionResultToPut& result = *wire.add_action_results();
    result.set_instance(put.instance);
    SetRawDigest(put.action, result.mutable_action());
    result.set_result(put.result);
    result.set_peer(put.peer);
  }
  return wire;
}

absl::StatusOr<CommitBatch> FromWire(const v1::CommitRequest& wire) {
  CommitBatch batch;
  for (const v1::LocatedBlob& blob : wire.blobs()) {
    ASSIGN_OR_RETURN(const Digest digest, RawDigestOf(blob.digest()));
    batch.blobs.emplace_back(digest,
                             BlobLocation{.segment = blob.segment(), .offset = blob.offset()});
  }
  for (const v1::ResultToPut& result : wire.results()) {
    PutResult put;
    ASSIGN_OR_RETURN(put.weak_key, RawDigestOf(result.weak_key()));
    put.observation_set = result.observation_set();
    ASSIGN_OR_RETURN(put.action_key, RawDigestOf(result.action_key()));
    put.result = result.result();
    batch.results.push_back(std::move(put));
  }
  for (const v1::SetToPut& set : wire.sets()) {
    ASSIGN_OR_RETURN(const Digest weak_key, RawDigestOf(set.weak_key()));
    batch.sets.push_back({.weak_key = weak_key, .observation_set = set.observation_set()});
  }
  for (const v1::ActionResultToPut& result : wire.action_results()) {
    ASSIGN_OR_RETURN(const Digest action, RawDigestOf(result.action()));
    batch.action_results.push_back({.instance = result.instance(),
                                    .action = action,
                                    .result = result.result(),
                                    .peer = result.peer()});
  }
  return batch;
}

v1::RevokeReply ToWire(const RevokeReport& report) {
  v1::RevokeReply wire;
  for (const RevokeReport::Result& result : report.results) {
    v1::RevokeReply::Result& one = *wire.add_results();
    SetRawDigest(result.key, one.mutable_key());
    one.set_is_ours(result.is_ours);
    one.set_worker(result.worker);
    one.set_machine(result.machine);
    one.set_taken_us(absl::ToUnixMicros(result.taken));
    one.set_received_from(result.received_from);
    for (const Digest& output : result.outputs) SetRawDigest(output, one.add_outputs());
  }
  return wire;
}

absl::StatusOr<RevokeReport> FromWire(const v1::RevokeReply& wire) {
  RevokeReport report;
  for (const v1::RevokeReply::Result& one : wire.results()) {
    RevokeReport::Result result{.is_ours = one.is_ours(),
                                .worker = one.worker(),
                                .machine = one.machine(),
                                .taken = absl::FromUnixMicros(one.taken_us()),
                                .received_from = one.received_from()};
    ASSIGN_OR_RETURN(result.key, RawDigestOf(one.key()));
    ASSIGN_OR_RETURN(result.outputs, FromWire(one.outputs()));
    report.results.push_back(std::move(result));
  }
  return report;
}

v1::WhyReply ToWire(const WhyReport& report) {
  v1::WhyReply wire;
  const auto set_time = [](absl::Time time, const auto& set) {
    if (time != absl::InfinitePast()) set(absl::ToUnixSeconds(time));
  };
  wire.set_is_present(report.location.has_value());
  wire.set_segment(report.location.value_or(BlobLocation{}).segment);
  wire.set_offset(report.location.value_or(BlobLocation{}).offset);
  set_time(report.written, [&](int64_t s) { wire.set_written_s(s); });
  for (const WhyReport::Root& root : report.roots) {
    v1::WhyReply::KeptByRoot& one = *wire.add_roots();
    *one.mutable_root() = ToWire(root.root);
    one.set_is_kept(root.is_kept);
    one.set_path(root.path);
  }
  wire.set_roots_more(report.roots_more);
  for (const WhyReport::Result& result : report.results) {
    v1::WhyReply::NamedByResult& one = *wire.add_results();
    SetRawDigest(result.key, one.mutable_key());
    one.set_is_ours(result.is_ours);
    one.set_provenance(result.provenance);
    set_time(result.written, [&](int64_t s) { one.set_written_s(s); });
    set_time(result.used, [&](int64_t s) { one.set_used_s(s); });
    one.set_is_input(result.is_input);
  }
  wire.set_results_more(report.results_more);
  for (const WhyReport::Lease& lease : report.leases) {
    v1::WhyReply::KeptByLease& one = *wire.add_leases();
    *one.mutable_lease() = ToWire(lease.lease);
    one.set_path(lease.path);
  }
  wire.set_leases_more(report.leases_more);
  for (const std::string& session : report.sessions) wire.add_sessions(session);
  for (const std::string& line : report.past) wire.add_past(line);
  return wire;
}

absl::StatusOr<WhyReport> FromWire(const v1::WhyReply& wire) {
  const auto time_of = [](bool is_known, int64_t seconds) {
    return is_known ? absl::FromUnixSeconds(seconds) : absl::InfinitePast();
  };
  WhyReport report;
  if (wire.is_present())
    report.location = BlobLocation{.segment = wire.segment(), .offset = wire.offset()};
  report.written = time_of(wire.has_written_s(), wire.written_s());
  for (const v1::WhyReply::KeptByRoot& one : wire.roots()) {
    ASSIGN_OR_RETURN(PublishedRoot root, FromWire(one.root()));
    report.roots.push_back({.root = std::move(root), .is_kept = one.is_kept(), .path = one.path()});
  }
  report.roots_more = wire.roots_more();
  for (const v1::WhyReply::NamedByResult& one : wire.results()) {
    ASSIGN_OR_RETURN(const Digest key, RawDigestOf(one.key()));
    report.results.push_back({.key = key,
                              .is_ours = one.is_ours(),
                              .provenance = one.provenance(),
                              .written = time_of(one.has_written_s(), one.written_s()),
                              .used = time_of(one.has_used_s(), one.used_s()),
                              .is_input = one.is_input()});
  }
  report.results_more = wire.results_more();
  for (const v1::WhyReply::KeptByLease& one : wire.leases()) {
    ASSIGN_OR_RETURN(RootLease lease, FromWire(one.lease()));
    report.leases.push_back({.lease = std::move(lease), .path = one.path()});
  }
  report.leases_more = wire.leases_more();
  report.sessions.assign(wire.sessions().begin(), wire.sessions().end());
  report.past.assign(wire.past().begin(), wire.past().end());
  return report;
}

std::string SocketTarget(std::string_view path) {
  std::string target = "unix:";
  for (const char c : path) {
    target += IsAlphanumericOr(c, "/-_.") ? std::string(1, c)
                                          : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return target;
}

}  // namespace galley::store
