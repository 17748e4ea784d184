// Optimised shaders do the same as plain shaders: both run on lavapipe.
//
// GALLEY_LONG: 2,000 random shaders instead of 100. GALLEY_SHADER_SEED: the first one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/shader/shader_cooker.h"
#include "worker/cookers/shader/testing/compute_device.h"
#include "worker/cookers/shader/testing/random_shader.h"

namespace galley::worker {
namespace {

// The package's whole list of passes miscompiles shader number 237.
constexpr uint64_t kFirstSeed = 200;
constexpr size_t kWords = size_t{kRandomShaderInvocations} * kRandomShaderResults;

class OptimizerTest : public testing::Test {
 protected:
  // The tests share a device: it takes longer to make than a shader to run.
  static void SetUpTestSuite() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    auto created = ComputeDevice::Create(kWords);
    if (created.ok()) {
      device_ = *std::move(created);
    } else {
      reason_ = std::string(created.status().message());
    }
#else
    reason_ = "the driver is not built for sanitizers";
#endif
  }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << reason_;
  }

  std::vector<uint32_t> Cook(const std::string& source, bool optimize) {
    FakeCookContext context(cooker_->description(), "/Game/a.comp", source,
                            {{"optimize", optimize}});
    context.SetPlatform("shader", "spirv-1.5");
    const absl::Status status = LoadAndCook(*cooker_, context);
    EXPECT_TRUE(status.ok()) << status << "\n" << source;
    if (!status.ok()) return {};
    const std::string& bytes = context.output(".spv");
    std::vector<uint32_t> words(bytes.size() / 4);
    for (size_t i = 0; i < bytes.size(); ++i)
      words[i / 4] |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * (i % 4));
    return words;
  }
  std::vector<uint32_t> Run(const std::string& source, bool optimize) {
    std::vector<uint32_t> input;
    for (uint32_t i = 0; i < kRandomShaderInputs; ++i) input.push_back(i * 7919 % 23 - 5);
    const auto result = device_->Run(Cook(source, optimize), input);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : std::vector<uint32_t>();
  }

  static std::unique_ptr<ComputeDevice> device_;
  static std::string reason_;
  std::unique_ptr<Cooker> cooker_ = CreateShaderCooker();
};

std::unique_ptr<ComputeDevice> OptimizerTest::device_;
std::string OptimizerTest::reason_;

// A loop, then a store; the loop has another loop, and a continue and a break in its other branch
// (KhronosGroup/SPIRV-Tools#5815): spirv-opt -O stores 0.
TEST_F(OptimizerTest, AStoreBehindAnInnerLoopIsKept) {
  const std::string source = R"(#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer Source { int source[]; };
layout(std430, binding = 1) buffer Result { int result[]; };
bool Never() { uint zero = 0u; return bool(zero); }
void main() {
  int one = 0;
  int last = 0;
  for (int i = 0; i < source[0] + 6; ++i) {
    if (Never()) {
      if (Never()) continue;
      break;
    } else {
      last = 0;
      for (int j = 0; j < 2; ++j) one = 1;
      last = one | last;
    }
  }
  result[0] = last;
}
)";
  const std::vector<uint32_t> plain = Run(source, false);
  ASSERT_FALSE(plain.empty());
  EXPECT_EQ(plain[0], 1u);
  EXPECT_EQ(Run(source, true), plain);
}

TEST_F(OptimizerTest, RandomShadersDoTheSameOptimized) {
  const char* given = std::getenv("GALLEY_SHADER_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : kFirstSeed;
  const uint64_t count = std::getenv("GALLEY_LONG") != nullptr ? 2'000 : 100;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string source = RandomShader(seed);
    EXPECT_EQ(Run(source, true), Run(source, false)) << "GALLEY_SHADER_SEED=" << seed << "\n"
                                                     << source;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace galley::worker
