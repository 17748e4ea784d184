#include "common/store/remote/credentials.h"

#include <sys/stat.h>

#include "common/base/status_macros.h"
#include "common/store/interface/sample_for_test.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CredentialsTest : public testing::Test {
 protected:
  std::string File(std::string_view name, std::string_view text, mode_t mode = 0600) {
    const std::string path = folder_.In(name);
    EXPECT_TRUE(WriteFileAtomic(path, std::string(text)).ok());
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string AuthorizationOf(std::string_view text) {
    const auto read = ReadCredentials({.credential = File("token", text)});
    return read.ok() ? read->authorization : MessageOf(read.status());
  }
  TemporaryFolder folder_;
};

TEST_F(CredentialsTest, ATokenBecomesABearer) {
  EXPECT_EQ(AuthorizationOf("s3cr3t\n"), "Bearer s3cr3t");
  EXPECT_EQ(AuthorizationOf("  Bearer s3cr3t \n"), "Bearer s3cr3t");
  EXPECT_EQ(AuthorizationOf("Basic bWU6cHc=\n"), "Basic bWU6cHc=");
}

TEST_F(CredentialsTest, WhatIsNoTokenIsRefusedAndNotRepeated) {
  for (const char* text : {"", "\n", "two s3cr3ts", "s3cr3t\nmore", "Bearer ", "s3cr3t\x01"}) {
    EXPECT_THAT(AuthorizationOf(text), HasSubstr("expected one line with a token")) << text;
    EXPECT_THAT(AuthorizationOf(text), Not(HasSubstr("s3cr3t")));
  }
  EXPECT_EQ(ReadCredentials({.credential = folder_.In("absent")}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CredentialsTest, CertificatesArePem) {
  const std::string pem = "-----BEGIN CERTIFICATE-----\n";
  const auto read = ReadCredentials({.tls_ca = File("ca", pem, 0644)});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tls_ca, pem);
  EXPECT_THAT(read->warnings, IsEmpty()) << "a certificate is no secret";
  const absl::Status wrong = ReadCredentials({.tls_key = File("key", "der")}).status();
  EXPECT_THAT(MessageOf(wrong), HasSubstr("tls_key"));
  EXPECT_THAT(MessageOf(wrong), HasSubstr("expected PEM"));
}

TEST_F(CredentialsTest, ASecretThatOthersReadIsWorthAWarning) {
  const auto read = ReadCredentials({.credential = File("token", "x", 0644),
                                     .tls_key = File("key", "-----BEGIN KEY-----", 0600)});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->warnings, testing::ElementsAre(HasSubstr("mode 0644): chmod 600")));
}

}  // namespace
}  // namespace galley::store
