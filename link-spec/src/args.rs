//! The arguments of `#[riff_link]`: the path of link.toml, and the facade when it is renamed.

use syn::{
    LitStr, Path, Token,
    parse::{Parse, ParseStream},
};

/// `"link.toml"`, then maybe `crate = path`.
pub struct LinkArgs {
    /// The name of the file.
    pub file: LitStr,
    /// The facade that the code names: `::riff_link`, where nothing else is said.
    pub facade: Path,
}

impl Parse for LinkArgs {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(LitStr) {
            return Err(input.error("name the file: #[riff_link(\"link.toml\")]"));
        }
        let file = input.parse()?;
        let mut facade = syn::parse_quote!(::riff_link);
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            if !input.peek(Token![crate]) {
                return Err(input.error("only `crate = path` may follow the file"));
            }
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            facade = input.call(Path::parse_mod_style)?;
            input.parse::<Option<Token![,]>>()?;
        }
        if input.is_empty() {
            Ok(Self { file, facade })
        } else {
            Err(input.error("#[riff_link] takes the file and maybe `crate = path`"))
        }
    }
}
