// ShaderTargetTest: the fixture of the tests of the shader cooker's targets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/shader/shader_cooker.h"

namespace galley::worker {

class ShaderTargetTest : public testing::Test {
 protected:
  using Json = nlohmann::json;

  absl::Status TryCook(const std::string& target, const std::string& stage,
                       const std::string& source, const Json& settings = Json::object()) {
    context_ = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/a." + stage, source,
                                                 settings);
    context_->SetPlatform("shader", target);
    return LoadAndCook(*cooker_, *context_);
  }
  // Cooks, and returns the output of the target.
  std::string Cook(const std::string& target, const std::string& stage, const std::string& source,
                   const Json& settings = Json::object()) {
    const absl::Status status = TryCook(target, stage, source, settings);
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) return {};
    return context_->output(target.starts_with("essl")  ? ".essl"
                            : target.starts_with("msl") ? ".msl"
                                                        : ".spv");
  }
  std::string Error(const std::string& target, const std::string& stage, const std::string& source,
                    const Json& settings = Json::object()) {
    const absl::Status status = TryCook(target, stage, source, settings);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return MessageOf(status);
  }
  // The reflection that the last cook wrote.
  Json Reflection(const std::string& suffix = ".reflect.cbor") {
    return Json::from_cbor(context_->output(suffix));
  }
  Json Binding(const std::string& name) {
    const Json all = Reflection();
    for (const Json& binding : all.at("bindings")) {
      if (binding.at("name") == name) return binding;
    }
    ADD_FAILURE() << "no binding " << name;
    return Json();
  }
  void SetUp() override {
    const auto folder = MakeTemporaryDirectory(testing::TempDir(), "shader");
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder_ = *folder;
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(folder_).ok()); }
  // Whether `program` (of glslang-tools or spirv-tools) accepts the files {name, bytes}.
  bool Accepts(const std::string& program,
               const std::vector<std::pair<std::string, std::string>>& files) {
    std::string command = program;
    for (const auto& [name, bytes] : files) {
      EXPECT_TRUE(WriteFileAtomic(JoinPath(folder_, name), bytes).ok());
      command += " '" + JoinPath(folder_, name) + "'";
    }
    return std::system((command + " >&2").c_str()) == 0;
  }

  std::string folder_;
  std::unique_ptr<Cooker> cooker_ = CreateShaderCooker();
  std::unique_ptr<FakeCookContext> context_;
};

}  // namespace galley::worker
