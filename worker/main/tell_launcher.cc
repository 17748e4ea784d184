#include "worker/main/tell_launcher.h"

#include <algorithm>
#include <cstdlib>

#include "common/base/log.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/wire/unfit_comment.h"

namespace galley::worker {
namespace {

constexpr size_t kCommentMax = 500;
constexpr absl::Duration kCommandMax = absl::Seconds(5);

}  // namespace

void TellLauncher(const std::string& words) {
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr || words.empty()) return;
  std::string comment = wire::kUnfitComment + words.substr(0, kCommentMax);
  std::replace_if(
      comment.begin(), comment.end(), [](char c) { return c == '\n' || c == '"' || c == '\''; },
      ' ');
  const auto told = RunToEnd({.argv = {"/usr/bin/env", "scontrol", "update",
                                       std::string("JobId=") + job, "Comment=" + comment},
                              .environment = {"LC_ALL=C"},
                              .with_errors = true,
                              .takes_privileges = true,
                              .wait_max = kCommandMax,
                              .output_bytes_max = 64 << 10});
  if (!told.ok()) LogDebug("scontrol: {}", MessageOf(told.status()));
}

}  // namespace galley::worker
