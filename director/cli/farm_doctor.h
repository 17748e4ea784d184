// What `galley doctor` says of the farm: whether workers of other machines would come, without
// starting any. What is asked of the world is asked here; what the answers mean is decided by the
// Judge functions, which are pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/program_output.h"
#include "common/project/project.h"
#include "common/record/cooker_description.h"

namespace galley::cli {

struct FarmFinding {
  enum class Level { kOk, kWarning, kError };
  std::string name;  // "farm host"
  Level level = Level::kOk;
  std::string text;  // with what to do, if something is to be done
};

// `own`: the cookers of this build. Blocks, for kAskMax at most for each 16 hosts. Empty: the
// project's workers are of this machine.
std::vector<FarmFinding> LookAtFarm(const project::Project& project,
                                    const std::vector<record::CookerDescription>& own);

// A host of launcher = "ssh": what ssh and the program there said (HostScript).
FarmFinding JudgeHost(const std::string& host, const std::string& program,
                      const absl::StatusOr<ProgramOutput>& answer,
                      const std::vector<record::CookerDescription>& own);
// Run by /bin/sh there: prints what the cookers of `program` are; 127: it is not there.
std::string HostScript(const std::string& program);
// A program that a launcher calls: "sbatch --version".
FarmFinding JudgeTool(const std::string& tool, const absl::StatusOr<ProgramOutput>& answer);
// The certificate of [farm] tls_cert (PEM), for those who come to `address`.
FarmFinding JudgeCertificate(const std::string& certificate, const std::string& address);

}  // namespace galley::cli
