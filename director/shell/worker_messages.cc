#include "director/shell/worker_messages.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "director/core/jobs/breaker.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kWorkerNameMax = 256;
constexpr uint32_t kWorkerSlotsMax = 1'024;

}  // namespace

std::string QuarantineText(const QuarantinedView& view) {
  constexpr size_t kNamedMax = 5;
  std::string text =
      fmt::format("worker {} on {} gets no more jobs: {}. ", view.worker, view.machine, view.why);
  const std::string command =
      fmt::format("`galley store revoke --worker {}@{} --since {}`", view.worker, view.machine,
                  absl::FormatTime(absl::RFC3339_sec, view.since, absl::UTCTimeZone()));
  if (view.unproven.empty())
    return text + fmt::format(
                      "Nothing that it made in this cook was used; {} takes back what it "
                      "made before",
                      command);
  size_t named = 0;
  std::string names;
  for (const std::string& package : view.unproven) {
    if (named++ == kNamedMax) break;
    names += (names.empty() ? "" : ", ") + package;
  }
  if (view.unproven.size() > kNamedMax)
    names += fmt::format(" and {} more", view.unproven.size() - kNamedMax);
  return text + fmt::format("What it made of {} {} was not proven ({}): {} takes it back",
                            view.unproven.size(),
                            view.unproven.size() == 1 ? "package" : "packages", names, command);
}

std::string HeldWorkerText(const std::string& worker, const std::string& machine) {
  return machine.empty() ? fmt::format("worker {}", worker)
                         : fmt::format("worker {} on {}", worker, machine);
}

std::string HeldText(const std::string& who, const std::string& why) {
  return fmt::format(
      "{} is held: {} jobs in a row failed there for the machine's sake, the last: {}. Its jobs go "
      "to others; after a pause one is tried there, and when it succeeds the worker is used again",
      who, Breaker::kFaultsMax, why);
}

absl::Status CheckHello(const std::string& worker_id, const v1::Hello& hello) {
  // Names stand in logs, in files, and in commands that people copy.
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:").find(c) != std::string_view::npos;
  };
  if (worker_id.empty() || worker_id.size() > kWorkerNameMax ||
      !std::ranges::all_of(worker_id, is_plain))
    return InvalidArgumentError(
        "a worker's name has 1 to {} letters, digits and any of \"._-:\" (galley "
        "worker --name)",
        kWorkerNameMax);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(hello.machine(), is_control))
    return absl::InvalidArgumentError("the name of the worker's machine has control characters");
  if (hello.slots() == 0 || hello.slots() > kWorkerSlotsMax)
    return InvalidArgumentError("a worker has 1 to {} slots, and this one has {}", kWorkerSlotsMax,
                                hello.slots());
  return absl::OkStatus();
}

absl::StatusOr<record::WorkerOffer> OfferOf(const v1::Hello& hello) {
  constexpr int kMax = static_cast<int>(record::WorkerOffer::kNamesMax);
  if (hello.labels_size() > kMax || hello.resources_size() > kMax)
    return InvalidArgumentError(
        "{} labels and {} resources: expected at most {} "
        "of each",
        hello.labels_size(), hello.resources_size(), kMax);
  record::WorkerOffer offer{
      .labels = record::SortedNames({hello.labels().begin(), hello.labels().end()})};
  for (const v1::Resource& one : hello.resources()) offer.resources[one.name()] = one.count();
  RETURN_IF_ERROR(record::CheckOffer(offer));
  return offer;
}

WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message) {
  const v1::Hello& hello = message.hello();
  return {.worker = worker,
          .slots = hello.slots(),
          .in_hand = {message.in_hand().begin(), message.in_hand().end()},
          .memory_bytes = hello.memory_bytes(),
          .session = hello.session(),
          .persisted = hello.persisted(),
          .begun = {message.begun().begin(), message.begun().end()},
          .pending = PendingOf(worker, message).attempts,
          .is_held = message.pending().is_held(),
          .uploading = UploadsOf(worker, message).attempts,
          .offer = OfferOf(hello).value_or(record::WorkerOffer())};
}

absl::StatusOr<std::vector<std::string>> LacksOf(const std::string& ours,
                                                 const std::string& theirs) {
  std::vector<std::string> lacks;
  if (ours == theirs) return lacks;
  ASSIGN_OR_RETURN(const auto known, record::DecodeDescriptions(ours));
  ASSIGN_OR_RETURN(const auto has, record::DecodeDescriptions(theirs));
  std::set<std::string> described;  // each cooker by itself
  for (const record::CookerDescription& one : has)
    described.insert(record::EncodeDescriptions({one}));
  for (const record::CookerDescription& one : known) {
    if (!described.contains(record::EncodeDescriptions({one}))) lacks.push_back(one.name);
  }
  std::ranges::sort(lacks);
  return lacks;
}

WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message) {
  const v1::Pending& pending = message.pending();
  return {.worker = worker,
          .attempts = {pending.attempts().begin(), pending.attempts().end()},
          .is_held = pending.is_held(),
          .begun = {pending.begun().begin(), pending.begun().end()}};
}

WorkerUploads UploadsOf(WorkerId worker, const v1::FromWorker& message) {
  return {.worker = worker, .attempts = {message.uploading().begin(), message.uploading().end()}};
}

v1::Snapshot SnapshotMessage(uint64_t number, const std::string& table_file,
                             const std::vector<project::Platform>& platforms) {
  v1::Snapshot message;
  message.set_number(number);
  message.set_table_file(table_file);
  for (const project::Platform& platform : platforms) {
    v1::Platform& out = *message.add_platforms();
    out.set_name(platform.name);
    for (const auto& [key, value] : platform.parameters) (*out.mutable_parameters())[key] = value;
  }
  return message;
}

void FillPart(const Desire::Part& part, v1::JobPart& proto) {
  proto.set_attempt(part.attempt);
  for (PlatformIndex platform = 0; platform < 32; ++platform) {
    if (part.platforms & MaskOf(platform)) proto.add_platforms(platform);
  }
}

}  // namespace galley::director
