import Security
import Tokens

// A second program of the package: reads what App has stored.
print(Tokens(account: "user").find() ?? (SecCopyErrorMessageString(errSecItemNotFound, nil)! as String))
