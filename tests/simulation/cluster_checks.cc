// Cluster's checks of the whole; SimDirector, SimWorker and SimStore check their own parts.

#include <algorithm>
#include <set>

#include "common/tree/tree.h"
#include "tests/simulation/cluster_impl.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

namespace {

constexpr absl::Duration kSettled = absl::Seconds(5);

}  // namespace

// A package that was cooked and is durable is never cooked again. The strict form of this check
// holds only where nothing else goes wrong.
void Cluster::NoteSettled() {
  if (director_ == nullptr || options_.has_faults || has_several_) return;
  const CookCore& core = director_->core();
  for (uint32_t i = 0; i < core.package_ids(); ++i) {
    const std::string& name = core.NameOf(PackageId(i));
    if (name.empty()) continue;  // it was forgotten
    if (core.StateText(PackageId(i)) == "Idle, cooked") settled_.emplace(name, cooks_[name]);
  }
}

void Cluster::CheckSettled() {
  for (const auto& [name, count] : settled_) {
    if (cooks_[name] != count)
      checks_.Break("safety: cooked before the crash, and again after it: " + name);
  }
}

void Cluster::CheckPromises(SimStore& store) {
  for (const Digest& key : checks_.promised) {
    if (!store.IsSafe(key) && !checks_.voided.contains(key))
      checks_.Break("safety: what was acknowledged is lost: " + key.hex());
  }
}

// No worker has a job that nobody wants.
void Cluster::CheckHands() {
  for (const Body& body : bodies_) {
    // A worker that has just woken has not received its answers yet.
    const bool is_awake =
        !body.worker->is_frozen() && schedule_.now() - body.worker->thawed_at() > absl::Seconds(5);
    const bool is_here =
        body.worker->is_alive() && is_awake && body.stream != 0 && body.term == director_->term();
    if (is_here && body.worker->session().in_hand() > 0)
      checks_.Break("liveness: the cook is over, but " + body.name + " has jobs");
    // If messages are lost, which no stream does, a worker may learn of an answer only with the
    // next message.
    const bool may_miss =
        HasEverFired(Fault::kMessageLost) || HasEverFired(Fault::kMessageReordered);
    if (is_here && !may_miss && body.worker->session().reports_kept() > 0)
      checks_.Break("liveness: the cook is over, but " + body.name + " has something to say");
  }
}

// After the power cut everything that was published can be read, and is right.
void Cluster::CheckStored(const std::map<std::string, std::map<std::string, Digest>>& roots) {
  disk_.set_is_director(false);
  SimStore store(disk_);
  CheckPromises(store);
  std::set<std::string> published;
  // A damaged blob is known no more once it was read, and several names and folders may have one.
  std::set<Digest> taken;
  const auto stored = store.Roots("");
  const auto is_taken = [&](const Digest& digest) {
    if (checks_.IsRotten(digest, store.WhatLiesFor(digest).value_or(Digest())) ||
        checks_.IsInDestroyed(digest, store.LocationOf(digest)))
      taken.insert(digest);
    return taken.contains(digest);
  };
  for (const store::PublishedRoot& root : *stored) published.insert(root.platform);
  for (const auto& [platform, tree] : roots) {
    if (!published.contains(platform) && !tree.empty())
      checks_.Break("safety: a published root is lost");
    for (const auto& [name, digest] : tree) {
      // If one of two copies was destroyed, the index may know the destroyed copy again until it is
      // read.
      const bool is_rotten = is_taken(digest);
      const auto blob = store.Get(digest);
      if (!blob.ok() && !is_rotten)
        checks_.Break("safety: a published output cannot be read: " + name + ": " +
                      std::string(blob.status().message()));
      if (blob.ok() && Digest::Of(**blob) != digest)
        checks_.Break("safety: wrong bytes were handed out: " + name);
    }
    // The newest root names these files. Folders may be lost with what the faults took. An empty
    // root is not published, so that an earlier one stays the newest.
    if (tree.empty()) continue;
    const auto newest = std::ranges::find_if(
        *stored, [&, of = platform](const auto& one) { return one.platform == of; });
    if (newest == stored->end()) continue;
    bool is_excused = false;
    const auto files = tree::ListTree(newest->root, [&](const Digest& one) {
      const bool may_be_lost =
          checks_.collected.contains(one) || is_taken(one) || !checks_.destroyed_segments.empty();
      auto folder = store.Get(one);
      is_excused |= !folder.ok() && may_be_lost;
      return folder;
    });
    std::multiset<Digest> listed, expected;
    for (const tree::TreeFile& file : files.value_or(std::vector<tree::TreeFile>()))
      listed.insert(file.digest);
    for (const auto& [name, digest] : tree) expected.insert(digest);
    if (files.ok() ? listed != expected : !is_excused)
      checks_.Break("safety: the published root of " + platform + " is not what was built");
  }
}

void Cluster::NoteInstigators(PackageId package, std::set<std::string>& lines) {
  const CookCore& core = director_->core();
  for (const InstigatorView& why : core.InstigatorsOf(package)) {
    // A failed package has told of its references or not, by chance.
    const std::string referencer = why.referencer.valid() ? core.NameOf(why.referencer) : "";
    const bool is_in_root =
        referencer.empty() || std::ranges::any_of(director_->roots(), [&](const auto& root) {
          return root.second.contains(referencer);
        });
    // A reference stays a reason for the cook though it now leads nowhere, or led to another file
    // of that name.
    const bool was_moved = !referencer.empty() &&
                           (world_->IsMoved(referencer) || world_->IsMoved(core.NameOf(package)));
    if (!is_in_root || was_moved || why.category == InstigatorCategory::kBuildDependency ||
        why.category == InstigatorCategory::kCookOnTheFly)
      continue;
    lines.insert(core.NameOf(package) + " " + std::to_string(static_cast<int>(why.category)) + " " +
                 referencer);
  }
}

void Cluster::CheckRunning(const Body& body) {
  const bool is_settled = director_ != nullptr && body.stream != 0 && !body.worker->is_frozen() &&
                          (faults_.is_calm() || has_several_) &&
                          schedule_.now() - body.attached_at > kSettled;
  if (!is_settled) return;
  for (const AttemptId attempt : body.worker->running()) {
    if (!director_->Knows(attempt))
      checks_.Break("safety: " + body.name + " cooks for a director that is gone");
  }
}

std::string Cluster::Stuck() const {
  if (director_ == nullptr) return ": there is no director";
  std::string text;
  const CookCore& core = director_->core();
  const Holdings left = core.holdings();
  text += "\n  the core waits for " + std::to_string(left.commits) + " commits, " +
          std::to_string(left.attempts) + " attempts, " + std::to_string(left.workers) +
          " lost workers; held: " + std::to_string(core.held_workers()) +
          (core.has_jobs() ? ", has jobs" : ", no jobs");
  for (uint32_t i = 0; i < core.package_ids(); ++i) {
    if (core.NameOf(PackageId(i)).empty()) continue;  // it was forgotten
    const std::string state = core.StateText(PackageId(i));
    if (!state.starts_with("Idle,")) text += "\n  " + core.NameOf(PackageId(i)) + ": " + state;
  }
  for (const Body& body : bodies_) {
    if (!body.worker->is_alive()) continue;
    text += "\n  " + body.name + " has " + std::to_string(body.worker->session().in_hand()) +
            " jobs, keeps " + std::to_string(body.worker->session().reports_kept()) + " reports" +
            (body.stream == 0 ? ", no stream" : "") + (body.worker->is_frozen() ? ", frozen" : "");
  }
  return text;
}

}  // namespace galley::simulation
