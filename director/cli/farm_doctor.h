// FarmDoctor: `galley doctor` for the farm: whether workers of other machines would come, without
// starting any. LookAtFarm asks hosts and programs; the Judge functions, which are pure, decide
// what the answers mean.
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
  std::string text;  // with what to do, if anything
};

// `own`: the cookers of this build. Blocks, for kAskMax at most for each 16 hosts. Empty: the
// project has only workers of this machine.
std::vector<FarmFinding> LookAtFarm(const project::Project& project,
                                    const std::vector<record::CookerDescription>& own);

// Judges a host of launcher = "ssh" by the answer of ssh and of the program there (HostScript).
FarmFinding JudgeHost(const std::string& host, const std::string& program,
                      const absl::StatusOr<ProgramOutput>& answer,
                      const std::vector<record::CookerDescription>& own);
// Returns a script for /bin/sh on a host: it prints the cookers of `program`; 127: the program does
// not exist.
std::string HostScript(const std::string& program);
// Judges a program that a launcher calls: "sbatch --version".
FarmFinding JudgeTool(const std::string& tool, const absl::StatusOr<ProgramOutput>& answer);
// Judges the certificate of [farm] tls_cert (PEM), for workers that come to `address`.
FarmFinding JudgeCertificate(const std::string& certificate, const std::string& address);

}  // namespace galley::cli
