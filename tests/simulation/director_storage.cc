// SimDirector's store: blobs that are kept, collected, rotten or handed out.

#include "common/store/interface/named_blobs.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

void AddNamed(const record::Result& result, std::set<Digest>& all) {
  std::vector<Digest> named;
  store::AppendNamedBlobs(result, named);
  all.insert(named.begin(), named.end());
}

}  // namespace

// Notes the results that earlier directors made durable: none of them is made again.
void SimDirector::NoteKept() {
  for (const Digest& key : store_.keys()) {
    if (store_.IsOnDiskWithAll(key) && store_.IsSafe(key)) kept_.insert(key);
  }
}

void SimDirector::ForgetLost() {
  std::erase_if(kept_, [&](const Digest& key) { return !store_.IsOnDiskWithAll(key); });
}

// Does what LocalStore::Collect does under a session: blobs that this director was told of stay,
// unless the session is sabotaged.
void SimDirector::Collect() {
  const std::set<Digest> told = Told(), known = KnownToJournal();
  for (const Digest& digest : store_.blobs()) {
    const bool is_told = told.contains(digest) || reports_.LocationOf(digest).has_value();
    const bool is_unasked = !is_told && known.contains(digest);
    if ((is_told || is_unasked) && IsSabotaged(Sabotage::kEvictLeasedBlob)) {
      if (!deps_.faults.Happens(Fault::kBlobCollected, 20)) continue;
    } else if (is_told) {
      continue;
    } else if (is_unasked) {
      // Counts as a fault when the cook meets it.
      if (!deps_.faults.IsOn(Fault::kUnaskedCollected) || !deps_.random.Percent(50)) continue;
    } else if (!deps_.faults.Happens(Fault::kBlobCollected, 20)) {
      continue;
    }
    deps_.checks.Trace("collected: " + digest.hex());
    deps_.checks.collected.insert(digest);
    if (!is_told) taken_.insert(digest);
    store_.Evict(digest);
  }
  ForgetLost();
}

void SimDirector::Rot() {
  const std::vector<Digest> blobs = store_.blobs();
  if (blobs.empty()) return;
  const Digest& digest = blobs[deps_.random.Below(blobs.size())];
  // If a segment was cut, other bytes may lie there by now.
  if (!store_.LiesAt(digest, *store_.LocationOf(digest)) || !store_.Rot(digest, deps_.random))
    return;
  deps_.faults.Count(Fault::kBitsRotten);
  rotten_since_staged_ = true;
  deps_.checks.NoteRot(digest, store_.WhatLiesFor(digest).value_or(Digest()),
                       store_.LocationOf(digest)->segment == 0);
  deps_.checks.Trace("rotten: " + digest.hex());
}

std::set<Digest> SimDirector::Told() {
  std::set<Digest> told = told_;
  for (uint32_t i = 0; results_.Get(ResultId(i)) != nullptr; ++i) {
    const StoredResultPtr stored = results_.Get(ResultId(i));
    if (!stored->is_in_journal) AddNamed(stored->result, told);
  }
  for (const auto& [platform, root] : built_) told.insert(root);
  return told;
}

std::set<Digest> SimDirector::ToldOrKnown() {
  std::set<Digest> all = Told();
  all.merge(KnownToJournal());
  return all;
}

// No collection takes blobs that the cook was told of.
void SimDirector::CheckLost(std::span<const RootBuilt::Lost> lost) {
  for (const RootBuilt::Lost& one : lost) {
    // The bytes may have been destroyed under an earlier director.
    const bool has_cause = taken_.contains(one.digest) ||
                           deps_.checks.IsRotten(one.digest, Digest()) ||
                           deps_.checks.IsInDestroyed(one.digest, store_.LocationOf(one.digest));
    if (!one.is_disputed && told_.contains(one.digest) && !has_cause)
      deps_.checks.Break("safety: it is lost, and the cook was told that it is there: " + one.path);
  }
}

std::set<Digest> SimDirector::KnownToJournal() {
  std::set<Digest> known;
  (void)journal_.ForEach([&](std::string_view, const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      if (const auto result = record::DecodeResult(one.result); result.ok())
        AddNamed(*result, known);
    }
  });
  for (uint32_t i = 0; results_.Get(ResultId(i)) != nullptr; ++i)
    AddNamed(results_.Get(ResultId(i))->result, known);
  return known;
}

// Bytes are wrong only because they rotted or were destroyed.
void SimDirector::NoteGivenUp(const Digest& blob, const Digest& bytes) {
  if (!deps_.checks.IsInDestroyed(blob, store_.LocationOf(blob)) &&
      !deps_.checks.IsRotten(blob, bytes))
    deps_.checks.Break("safety: bytes are wrong that did not rot: " + blob.hex());
  // An overtaken director knows only what was there when it was stopped.
  if (!is_overtaken_) deps_.checks.found_out.insert(blob);
  taken_.insert(blob);
}

void SimDirector::NoteMadeAgain() {
  if (is_overtaken_) return;
  std::erase_if(deps_.checks.found_out,
                [&](const Digest& digest) { return store_.LocationOf(digest).has_value(); });
}

bool SimDirector::Stage() {
  std::vector<Digest> all;
  for (const auto& [platform, tree] : trees_) {
    for (const auto& [name, digest] : tree) all.push_back(digest);
  }
  // Does what a checkout does: reads everything, and after the first loss looks for all losses.
  bool is_whole = true;
  for (const auto& [platform, tree] : trees_) {
    for (const auto& [name, digest] : tree) {
      const auto blob = store_.Get(digest);
      if (!blob.ok()) {
        if (!deps_.checks.found_out.contains(digest) && !lost_since_staged_.contains(digest))
          deps_.checks.Break("safety: it is in a root, and is gone: " + name);
        if (is_staged_ && !lost_since_staged_.contains(digest) && !rotten_since_staged_)
          deps_.checks.Break("safety: it was staged, and cannot be read: " + name);
        if (std::exchange(is_whole, false)) (void)fenced_.FindLost(all);
        continue;
      }
      if (Digest::Of(**blob) != digest)
        deps_.checks.Break("safety: wrong bytes were handed out: " + name);
    }
  }
  return is_whole;
}

}  // namespace galley::simulation
