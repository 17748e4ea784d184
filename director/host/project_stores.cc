#include "director/host/project_stores.h"

#include <utility>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/low_priority.h"
#include "common/base/status_macros.h"
#include "common/store/layers/tiered_store.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/owner/store_server.h"
#include "director/host/outcome_status.h"
#include "director/host/remote_warnings.h"
#include "director/shell/fenced_store.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<std::unique_ptr<ProjectStores>> ProjectStores::Open(
    const project::Project& project, std::function<absl::Status()> may_write, CookEventSink& sink) {
  auto stores =
      std::unique_ptr<ProjectStores>(new ProjectStores(project.store.directory, project.name));
  auto store = store::OpenOrConnect(stores->directory_);
  if (!store.ok()) return Infrastructure("store", store.status());
  // A full disk is told at once, whoever owns the store: workers that cannot write are only seen to
  // end.
  if (const absl::Status room = stores->CheckSpace(0); !room.ok())
    return Infrastructure("store", room);
  if (const absl::Status held = stores->Hold(); !held.ok())
    sink.Warn(record::WarningKind::kStore, MessageOf(held));
  stores->admin_ = store->get();
  stores->dead_bytes_ = dynamic_cast<store::DeadBytes*>(store->get());
  stores->replaced_folder_ = dynamic_cast<store::ReplacedFolder*>(store->get());
  RETURN_IF_ERROR(stores->OpenRemote(project.store.remote, sink));
  std::unique_ptr<store::Store> tiered = *std::move(store);
  if (stores->remote_.cache != nullptr)
    tiered = std::make_unique<store::TieredStore>(std::move(tiered), stores->remote_.cache);
  stores->store_ = std::make_unique<FencedStore>(std::move(tiered), may_write);
  stores->quota_ = std::make_unique<store::QuotaKeeper>(
      *stores->admin_,
      store::QuotaOptions{.bytes_max = project.store.size_bytes_max,
                          .may_collect = std::move(may_write),
                          .say = [](const std::string& text) { LogInfo("{}", text); }});
  return stores;
}

// Keeps the blobs that cooks are told of until the director ends, whoever owns the store by then.
// Without the session a cook is still right, but may have to make blobs again.
absl::Status ProjectStores::Hold() {
  auto session = store::Session::Begin(directory_, fmt::format("cook of {}", project_name_));
  if (!session.ok()) return Annotate(session.status(), "a collection may drop what this cook uses");
  session_.emplace(*std::move(session));
  return absl::OkStatus();
}

absl::Status ProjectStores::CheckFolder() const {
  return replaced_folder_ == nullptr ? absl::OkStatus() : replaced_folder_->CheckFolder();
}

absl::Status ProjectStores::OpenWhatIsThere() {
  if (replaced_folder_ == nullptr) return absl::OkStatus();
  session_.reset();
  RETURN_IF_ERROR(replaced_folder_->OpenWhatIsThere());
  if (const absl::Status held = Hold(); !held.ok()) LogWarning("{}", MessageOf(held));
  return absl::OkStatus();
}

void ProjectStores::RenewSession(absl::Duration keeps) {
  if (!session_.has_value()) return;
  if (const absl::Status renewed = session_->Renew(keeps); !renewed.ok())
    LogWarning("the session with the store is not renewed: {}", MessageOf(renewed));
}

store::RemoteConfig RemoteConfigOf(const project::RemoteSection& section) {
  return {.url = section.url,
          .instance = section.instance,
          .files = {.credential = section.credential_file,
                    .tls_ca = section.tls_ca,
                    .tls_cert = section.tls_cert,
                    .tls_key = section.tls_key}};
}

absl::Status ProjectStores::OpenRemote(const project::RemoteSection& section, CookEventSink& sink) {
  if (section.url.empty()) return absl::OkStatus();
  auto remote = store::OpenRemote(RemoteConfigOf(section));
  if (!remote.ok()) return WrongUse(fmt::format("[store] remote: {}", MessageOf(remote.status())));
  remote_ = *std::move(remote);
  for (const std::string& warning : remote_.warnings)
    sink.Warn(record::WarningKind::kRemoteStore, warning);
  return absl::OkStatus();
}

absl::Status ProjectStores::CheckSpace(uint64_t bytes) const {
  return store::CheckFreeSpace(directory_, bytes, store::LocalStoreOptions().free_bytes_margin);
}

uint64_t ProjectStores::BytesFetched() const {
  return remote_.cache == nullptr ? 0 : remote_.cache->State().bytes_fetched;
}

std::string ProjectStores::RemoteDown() const {
  if (remote_.cache == nullptr) return "";
  SystemClock clock;
  return RemoteDownText(remote_.cache->State(), clock.Monotonic(), clock.Now(),
                        absl::LocalTimeZone());
}

void ProjectStores::TellRemote(CookEventSink& sink) {
  if (remote_.cache == nullptr) return;
  for (const std::string& text : RemoteWarnings(remote_.cache->State(), RemoteDown()))
    sink.Warn(record::WarningKind::kRemoteStore, text);
}

void ProjectStores::LeaveRemote() {
  if (remote_.cache != nullptr) remote_.cache->Stop();
}

void ProjectStores::KeepWithinSize(Cancellation& stop, CookEventSink& sink) {
  const absl::Status status = quota_->Keep(&stop, [&](const std::string& text) { sink.Say(text); });
  if (!status.ok() && !stop.is_cancelled())
    sink.Warn(
        record::WarningKind::kStore,
        fmt::format("the store was not brought within [store] max_size: {}", MessageOf(status)));
}

void ProjectStores::GiveBackDeadBytes(Cancellation& stop, CookEventSink& sink) {
  if (dead_bytes_ == nullptr || stop.is_cancelled()) return;
  session_.reset();
  absl::StatusOr<store::GcReport> given;
  RunAtLowPriority([&] { given = dead_bytes_->GiveBackDeadBytes(&stop); });
  if (stop.is_cancelled()) return;
  if (!given.ok())
    return sink.Warn(
        record::WarningKind::kStore,
        fmt::format("dead bytes of the store were not given back: {}", MessageOf(given.status())));
  if (given->freed_bytes > given->moved_bytes)
    sink.Say(fmt::format("gave back {} of the store's segments, which nothing needed",
                         HumanBytes(given->freed_bytes - given->moved_bytes)));
}

}  // namespace galley::director
