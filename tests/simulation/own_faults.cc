#include "tests/simulation/own_faults.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/world.h"

namespace galley::simulation {

void OwnFaults::Renew(Package& package) {
  ++package.content;
  ++package.chances;
  package.is_condemned = package.is_quarantined = false;
}

void OwnFaults::Forgive(Package& package) {
  Renew(package);
  package.faults = 0;
  package.failed_on.clear();
}

const OwnFaults::Given* OwnFaults::GivenTo(director::AttemptId attempt,
                                           const std::string& worker) const {
  const auto given = given_.find(attempt);
  return given == given_.end() || given->second.worker != worker ? nullptr : &given->second;
}

void OwnFaults::BeginTerm(const std::vector<director::BlameRecord>& remembered,
                          const std::vector<std::string>& changed) {
  is_cooking_ = false;
  is_first_cook_ = true;
  told_.clear();
  attached_.clear();
  for (const std::string& name : changed) Renew(packages_[name]);
  for (auto& [name, package] : packages_) {
    package.faults = 0;
    package.failed_on.clear();
  }
  for (const director::BlameRecord& one : remembered) {
    Package& package = packages_[one.package];
    package.faults = one.own_faults;
    if (one.own_faults >= faults_max_ && !package.is_condemned)
      checks_.Break("safety: remembered for what it was made of before: " + one.package);
  }
  // Faults that were told and not written are forgotten.
  for (auto& [name, package] : packages_)
    package.is_condemned = package.is_quarantined = package.faults >= faults_max_;
}

void OwnFaults::BeginCook() {
  if (std::exchange(is_cooking_, true)) return;
  if (std::exchange(is_first_cook_, false)) return;
  for (auto& [name, package] : packages_) Forgive(package);
}

void OwnFaults::Give(director::AttemptId attempt, const std::string& name,
                     const std::string& worker, bool is_tied) {
  Package& package = packages_[name];
  given_[attempt] = {
      .package = name, .worker = worker, .content = package.content, .chances = package.chances};
  if (package.is_quarantined)
    checks_.Break("safety: it is quarantined, and tried once more: " + name);
  const bool was_everywhere = std::ranges::all_of(attached_, [&](const auto& other) {
    return package.failed_on.contains(other.first) || (other.second && World::StartsPrograms(name));
  });
  if (package.failed_on.contains(worker) && !was_everywhere && !is_tied)
    checks_.Break("safety: tried again where it failed, beside others: " + name);
}

std::string OwnFaults::PackageOf(director::AttemptId attempt) const {
  const auto given = given_.find(attempt);
  return given == given_.end() ? "" : given->second.package;
}

void OwnFaults::TakeBack(director::AttemptId attempt) {
  const auto given = given_.find(attempt);
  if (given != given_.end()) given->second.is_taken_back = true;
}

void OwnFaults::Lose(const std::string& worker) {
  attached_.erase(worker);
  for (auto& [attempt, given] : given_) given.is_taken_back |= given.worker == worker;
}

void OwnFaults::Tell(director::AttemptId attempt, const std::string& worker,
                     std::string_view what) {
  const Given* given = GivenTo(attempt, worker);
  if (given == nullptr || !told_.insert(attempt).second || !is_cooking_) return;
  checks_.Trace("own fault of " + given->package + " at " + worker, attempt);
  Package& package = packages_[given->package];
  if (package.is_quarantined && given->chances == package.chances && !given->is_taken_back)
    checks_.Break("safety: it took more executors down than allowed: " + given->package);
  ++package.faults;
  package.what = what;
  package.failed_on.insert(worker);
  if (package.faults < faults_max_) return;
  package.is_condemned |= given->content == package.content;
  package.is_quarantined |= given->chances == package.chances;
}

void OwnFaults::TellStale(director::AttemptId attempt, const std::string& worker) {
  const Given* given = GivenTo(attempt, worker);
  if (given == nullptr) return;
  Package& package = packages_[given->package];
  if (given->content == package.content) Renew(package);
}

void OwnFaults::Change(const std::set<std::string>& packages) {
  for (const std::string& name : packages) Renew(packages_[name]);
}

void OwnFaults::AddPlatforms() {
  for (auto& [name, package] : packages_) {
    ++package.chances;
    package.is_quarantined = false;
  }
}

void OwnFaults::Clear(const std::vector<std::string>& packages) {
  for (const std::string& name : packages) Forgive(packages_[name]);
}

void OwnFaults::CheckBlamed(const std::string& name, uint32_t own_faults, std::string_view what) {
  Package& package = packages_[name];
  if (may_count_less_ && own_faults < std::min(package.faults, faults_max_)) {
    if (own_faults < std::min(package.faults, faults_max_ - 1)) package.faults = own_faults;
    package.is_condemned = package.is_quarantined = false;
  }
  const uint32_t faults =
      package.is_condemned ? package.faults : std::min(package.faults, faults_max_ - 1);
  if (may_count_less_ ? own_faults > faults : own_faults != faults)
    checks_.Break("safety: of " + name + " " + std::to_string(own_faults) +
                  " own faults are counted, and " + std::to_string(faults) + " were told");
  if (!what.empty() && what != package.what)
    checks_.Break("safety: blamed for another fault than its last: " + name);
}

void OwnFaults::CheckQuarantined(const std::string& name) {
  if (!packages_[name].is_condemned)
    checks_.Break("safety: quarantined without a last fault of what it is made of now: " + name);
}

}  // namespace galley::simulation
