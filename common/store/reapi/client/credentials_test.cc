#include "common/store/reapi/client/credentials.h"

#include <sys/stat.h>

#include <cstdlib>

#include "common/base/status_macros.h"
#include "common/store/testing/sample.h"
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
  // <name>.pem and <name>.key.
  void Make(const std::string& name) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        name + " -keyout " + folder_.In(name + ".key") + " -out " + folder_.In(name + ".pem");
    EXPECT_EQ(std::system((command + " 2>/dev/null").c_str()), 0) << command;
    EXPECT_EQ(::chmod(folder_.In(name + ".key").c_str(), 0600), 0);
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

TEST_F(CredentialsTest, CertificatesAreReadAndKeysAreTheirs) {
  Make("a");
  Make("b");
  const std::string a = folder_.In("a.pem"), a_key = folder_.In("a.key");
  const auto read = ReadCredentials({.tls_ca = a, .tls_cert = a, .tls_key = a_key});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tls_ca, *ReadFile(a));
  EXPECT_THAT(read->warnings, IsEmpty()) << "a certificate is no secret";
  const auto error = [](const CredentialFiles& files) {
    return MessageOf(ReadCredentials(files).status());
  };
  EXPECT_THAT(error({.tls_ca = File("der", "der")}), HasSubstr("der: expected a certificate"));
  EXPECT_THAT(error({.tls_ca = a_key}), HasSubstr("tls_ca: " + a_key + ": expected a certificate"));
  EXPECT_THAT(error({.tls_cert = a, .tls_key = folder_.In("b.key")}),
              HasSubstr("b.key: expected the private key of the certificate in " + a));
  EXPECT_THAT(error({.tls_cert = a, .tls_key = a}), HasSubstr("expected a private key"));
}

TEST_F(CredentialsTest, ASecretThatOthersReadIsWorthAWarning) {
  const auto read = ReadCredentials({.credential = File("token", "x", 0644)});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->warnings, testing::ElementsAre(HasSubstr("mode 0644): chmod 600")));
}

TEST_F(CredentialsTest, ARefusedTokenIsReadAgainFromItsFile) {
  const std::string file = File("token", "first");
  Authorization authorization("Bearer first", file);
  EXPECT_FALSE(authorization.Renew("Bearer first")) << "the file has no other one";
  EXPECT_THAT(authorization.RefusalText(), HasSubstr(file + ", which is read again"));
  File("token", "second");
  EXPECT_EQ(authorization.value(), "Bearer first") << "it is good until it is refused";
  EXPECT_TRUE(authorization.Renew("Bearer first"));
  EXPECT_EQ(authorization.value(), "Bearer second");
  EXPECT_TRUE(authorization.Renew("Bearer first")) << "another thread's call had the old one";
  File("token", "two words");
  EXPECT_FALSE(authorization.Renew("Bearer second"));
  EXPECT_EQ(authorization.value(), "Bearer second");
  EXPECT_THAT(authorization.RefusalText(), HasSubstr("cannot be read again"));
  EXPECT_THAT(Authorization("", "").RefusalText(), HasSubstr("credential_file"));
}

}  // namespace
}  // namespace galley::store
