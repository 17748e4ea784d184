#include "worker/cookers/shader/spirv_tools.h"

#include <algorithm>
#include <array>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "spirv-tools/libspirv.hpp"
#include "spirv-tools/optimizer.hpp"

namespace galley::worker {
namespace {

constexpr size_t kMessageBytesMax = 64 << 10;

// Passes of the packaged optimiser (2023.1) that change what a shader does. ssa-rewrite forgets a
// store behind a loop: when it removes a phi of the loop's header, it writes the phi's replacement
// over the store of the block that read the variable first (KhronosGroup/SPIRV-Tools#5815; found by
// optimizer_test.cc, which runs the other passes).
constexpr std::array<std::string_view, 1> kMiscompilingPasses = {"ssa-rewrite"};

// Registers the library's own list of performance passes without kMiscompilingPasses.
void RegisterSoundPasses(spvtools::Optimizer& optimizer, spv_target_env environment) {
  spvtools::Optimizer all(environment);
  all.RegisterPerformancePasses();
  for (const std::string_view pass : all.GetPassNames()) {
    if (std::ranges::find(kMiscompilingPasses, pass) == kMiscompilingPasses.end()) {
      GALLEY_CHECK(optimizer.RegisterPassFromFlag(fmt::format("--{}", pass)));
    }
  }
}

// Collects a tool's messages.
spvtools::MessageConsumer CollectInto(std::string& text) {
  return [&text](spv_message_level_t, const char*, const spv_position_t& position,
                 const char* message) {
    if (text.size() < kMessageBytesMax)
      text += fmt::format("{}word {}: {}", text.empty() ? "" : "; ", position.index, message);
  };
}

}  // namespace

std::string SpirvToolsIdentity() {
  return fmt::format("spirv-tools={}", spvSoftwareVersionString());
}

std::string FindInvalid(const std::vector<uint32_t>& module, int environment) {
  std::string messages;
  spvtools::SpirvTools tools(static_cast<spv_target_env>(environment));
  spvtools::ValidatorOptions options;
  // Names for the messages are a third of the validator's work: they are made only for a message.
  options.SetFriendlyNames(false);
  if (tools.Validate(module.data(), module.size(), options)) return {};
  tools.SetMessageConsumer(CollectInto(messages));
  options.SetFriendlyNames(true);
  tools.Validate(module.data(), module.size(), options);
  return messages.empty() ? "not valid" : messages;
}

absl::StatusOr<std::vector<uint32_t>> OptimizeSpirv(const std::vector<uint32_t>& module,
                                                    int environment, bool strips_names) {
  std::string messages;
  spvtools::Optimizer optimizer(static_cast<spv_target_env>(environment));
  optimizer.SetMessageConsumer(CollectInto(messages));
  RegisterSoundPasses(optimizer, static_cast<spv_target_env>(environment));
  if (strips_names) optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // the caller validates before and after
  std::vector<uint32_t> optimized;
  if (optimizer.Run(module.data(), module.size(), &optimized, options)) return optimized;
  return absl::InternalError("spirv-opt failed: " + messages);
}

absl::StatusOr<std::vector<uint32_t>> StripNames(const std::vector<uint32_t>& module,
                                                 int environment) {
  spvtools::Optimizer optimizer(static_cast<spv_target_env>(environment));
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<uint32_t> stripped;
  if (optimizer.Run(module.data(), module.size(), &stripped, options)) return stripped;
  return absl::InternalError("spirv-opt cannot strip the names");
}

std::string SpirvBytes(const std::vector<uint32_t>& module) {
  std::string bytes;
  bytes.reserve(module.size() * 4);
  for (const uint32_t word : module) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>((word >> shift) & 0xFF));
  }
  return bytes;
}

}  // namespace galley::worker
