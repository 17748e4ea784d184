#include "worker/walls/can_watch_calls.h"

#include <csignal>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/child_process.h"
#include "common/base/own_program.h"
#include "common/base/status_macros.h"
#include "worker/walls/call_watch.h"

namespace galley::worker {
namespace {

// A folder that notes whether its file was asked for.
class ProbeFolder final : public ReadyFolder {
 public:
  explicit ProbeFolder(std::string root) : root_(std::move(root)) {}
  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string&) override { return absl::OkStatus(); }
  absl::Status FillFile(const std::string&) override {
    is_asked = true;
    return absl::OkStatus();
  }
  std::string PathOf(uint64_t, uint64_t) const override { return ""; }
  bool is_asked = false;

 private:
  const std::string root_;
};

// Runs a program that is in the folder: this program, or the loader that runs it.
absl::Status Probe() {
  ChildOptions options{.argv = CommandOf(OwnProgram())};
  ProbeFolder folder(options.argv[0].substr(0, options.argv[0].rfind('/')));
  CallWatch watch({.folder = &folder});
  options.watch = &watch;
  options.argv.emplace_back("--version");
  absl::StatusOr<ChildProcess> child = ChildProcess::Start(options);
  RETURN_IF_ERROR(child.status());
  child->Kill(SIGKILL);
  child->Wait();
  RETURN_IF_ERROR(watch.trouble());
  if (!folder.is_asked) return absl::UnavailableError("the calls of a program were not seen");
  return absl::OkStatus();
}

}  // namespace

absl::Status CanWatchCalls() {
  static const absl::Status& can = *new absl::Status(
      Annotate(Probe(), "the calls of programs cannot be watched (seccomp user notification)"));
  return can;
}

}  // namespace galley::worker
